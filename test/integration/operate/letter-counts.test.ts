import * as fc from 'fast-check'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { Rig } from '../../support/engine/rig.ts'

let rig: Rig

beforeAll(async () => {
  rig = await Rig.create()
})
afterAll(() => rig.stop())

/** What the counts say, and what counting says. */
async function compare(): Promise<void> {
  const kinds = 'lane_id, fingerprint, state, is_settled, criticality'
  const said = await rig.rows(
    `select ${kinds}, sum(letters)::int as letters from holdfast_internal.counted_letters() group by ${kinds} having sum(letters) <> 0 order by ${kinds}`,
  )
  const counted = await rig.rows(
    `select ${kinds}, count(*)::int as letters from (select *, settled_at is not null as is_settled from holdfast_internal.dead_letters) as every
     group by ${kinds} order by ${kinds}`,
  )
  expect(said).toEqual(counted)
}

const states = ['open', 'redriven', 'resolved', 'discarded']
const change = fc.oneof(
  fc.record({ kind: fc.constant('insert' as const), lane: fc.nat(3), many: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: fc.constant('update' as const), lane: fc.nat(3), state: fc.constantFrom(...states) }),
  fc.record({ kind: fc.constant('settle' as const), lane: fc.nat(3) }),
  fc.record({ kind: fc.constant('delete' as const), lane: fc.nat(3) }),
  fc.record({ kind: fc.constant('add up' as const), rows: fc.integer({ min: 1, max: 4 }) }),
  fc.constant({ kind: 'roll back' as const }),
  fc.constant({ kind: 'truncate' as const }),
)

async function apply(made: typeof change extends fc.Arbitrary<infer Change> ? Change : never): Promise<void> {
  switch (made.kind) {
    case 'insert':
      await rig.rows(
        `insert into holdfast_internal.dead_letters (id, delivery_id, message_id, lane_id, reason, outcome, status_code, criticality, priority, attempt, attempts)
         select nextval('holdfast_internal.ids'), nextval('holdfast_internal.ids'), 1, $1, 'permanent', 3, 400 + n, n % 3, 0, 1, '[]'
         from generate_series(1, $2) as n`,
        [made.lane, made.many],
      )
      break
    case 'update':
      await rig.rows(
        'update holdfast_internal.dead_letters set state = $2 where lane_id = $1 and id % 2 = 0',
        [made.lane, made.state],
      )
      break
    case 'settle':
      await rig.rows(
        'update holdfast_internal.dead_letters set settled_at = now() where lane_id = $1 and id % 3 = 0',
        [made.lane],
      )
      break
    case 'delete':
      await rig.rows('delete from holdfast_internal.dead_letters where lane_id = $1 and id % 2 = 1', [
        made.lane,
      ])
      break
    case 'add up':
      await rig.rows('select holdfast_internal.add_up_letters($1)', [made.rows])
      break
    case 'roll back':
      await rig.rows('begin; delete from holdfast_internal.dead_letters; rollback')
      break
    case 'truncate':
      await rig.rows('truncate holdfast_internal.dead_letters')
  }
}

it('the counts of dead letters are what counting them gives, whatever was done to them', {
  timeout: 60_000,
}, async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 12 }), async (changes) => {
      for (const made of changes) await apply(made)
      await compare()
    }),
    { numRuns: 60 },
  )
})
