import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Database } from '../../../src/storage/database.ts'
import {
  type DeliveryRow,
  isHeadOf,
  readByIds,
  readDue,
  readKeyHeads,
  readStreams,
} from '../../../src/storage/read-deliveries.ts'
import { startable } from '../../reference/ordering.ts'
import { Rig } from '../../support/engine/rig.ts'

interface Owed {
  readonly id: number
  readonly key: string | null
  readonly priority: number
  readonly wait: 'none' | 'over' | 'to come'
  readonly isDue: boolean
}

const laneId = 7
const keys = ['a', 'b', 'c']
const anyOwed: fc.Arbitrary<readonly Owed[]> = fc
  .array(
    fc.record({
      key: fc.option(fc.constantFrom(...keys)),
      priority: fc.integer({ min: 0, max: 3 }),
      wait: fc.constantFrom('none', 'over', 'to come'),
    }),
    { minLength: 1, maxLength: 20 },
  )
  .map((owed) => owed.map((each, index) => ({ ...each, id: index + 1, isDue: each.wait !== 'to come' })))

describe('what a read of a lane calls startable', () => {
  let rig: Rig
  let database: Database

  beforeAll(async () => {
    rig = await Rig.create()
    database = new Database({ pool: rig.database.pool, preparesStatements: true, deadlineMs: 10_000 })
  })
  afterAll(() => rig.stop())

  async function owe(owed: readonly Owed[]): Promise<void> {
    await rig.rows('delete from holdfast_internal.deliveries')
    await rig.rows(
      `insert into holdfast_internal.deliveries (id, message_id, lane_id, size, priority, ordering_key, due_at)
       select id, id, ${laneId}, 1, priority, key,
              case wait when 'over' then now() - interval '1 minute' when 'to come' then now() + interval '1 hour' end
       from unnest($1::bigint[], $2::int[], $3::text[], $4::text[]) as owed (id, priority, key, wait)`,
      [
        owed.map(({ id }) => id),
        owed.map(({ priority }) => priority),
        owed.map(({ key }) => key),
        owed.map(({ wait }) => wait),
      ],
    )
  }

  const headsOf = (rows: readonly DeliveryRow[]) =>
    rows
      .filter(isHeadOf)
      .map(([id]) => id)
      .toSorted((one, other) => one - other)

  it('is what the rule of ordering keys allows, whichever read asks', async () => {
    await fc.assert(
      fc.asyncProperty(anyOwed, async (owed) => {
        await owe(owed)
        const expected = startable(owed, new Set()).map(({ id }) => id)
        const streams = [0, 1, 2, 3].map((priority) => ({ laneId, priority, after: 0, maxRows: 100 }))
        const fresh = (await readStreams(database, streams, 1000)).flat()
        const due = (await readDue(database, [{ laneId, maxRows: 100, fromMs: 0 }])).rows.flat()
        expect(headsOf([...fresh, ...due])).toEqual(expected)
        const ids = owed.map(({ id }) => id)
        expect(headsOf(await readByIds(database, ids))).toEqual(expected)
        const freed = await readKeyHeads(
          database,
          keys.map((key) => ({ laneId, key })),
        )
        const keyed = new Set(owed.flatMap(({ id, key }) => (key === null ? [] : [id])))
        expect(headsOf(freed)).toEqual(expected.filter((id) => keyed.has(id)))
      }),
      { numRuns: 60 },
    )
  })
})
