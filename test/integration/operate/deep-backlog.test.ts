import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Plan } from '../../support/engine/plan-of.ts'
import { buffersOf } from '../../support/engine/plan-of.ts'
import { Rig } from '../../support/engine/rig.ts'

const waiting = 100_000

let rig: Rig

/** Most of what is owed is owed to one lane, in one priority: its other three are empty. */
beforeAll(async () => {
  rig = await Rig.create()
  await rig.client().endpoints.create({ name: 'full', transport: 'function' })
  const full = await rig.laneId('full')
  await rig.rows(
    `insert into holdfast_internal.deliveries (id, message_id, lane_id, size)
     select id, id, case when id % 3 > 0 then ${full} else ${full + 1} end, 10 from generate_series(1, ${waiting}) as id`,
  )
  await rig.rows('analyze holdfast_internal.deliveries')
})
afterAll(() => rig.stop())

it.each([
  [
    'how long the oldest has waited',
    `select holdfast_internal.oldest_owed(id) from holdfast_internal.endpoints where name = 'full'`,
  ],
  ['the health of an endpoint', `select * from holdfast.endpoint_health('full')`],
  [
    'a page of its deliveries',
    `select holdfast_internal.find_deliveries('{"endpoint": "full", "state": "pending"}', ${waiting}, 10, 1000)`,
  ],
])('%s is answered without a scan of the backlog', async (_, question) => {
  // A connection reads the catalogue at its first question: that isn't counted.
  await rig.rows(question)
  const [row] = await rig.rows<{ 'QUERY PLAN': [{ Plan: Plan }] }>(
    `explain (analyze, buffers, format json) ${question}`,
  )
  expect(buffersOf(row!['QUERY PLAN'][0].Plan)).toBeLessThan(500)
})
