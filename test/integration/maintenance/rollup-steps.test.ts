import { afterAll, beforeAll, expect, it } from 'vitest'
import { defineOperatorDataset, fillOperatorDataset } from '../../../bench/workload/operator-dataset.ts'
import { builtInTasks } from '../../../src/engine/upkeep/built-in-tasks.ts'
import { rollUpLanes } from '../../../src/storage/rollups.ts'
import { Rig } from '../../support/engine/rig.ts'

const endpoints = 120
let rig: Rig

beforeAll(async () => {
  rig = await Rig.create()
  await rig.client().endpoints.create({ name: 'template', transport: 'function', config: {} })
  const { pool } = rig.database
  await fillOperatorDataset([pool], await defineOperatorDataset(pool, { events: 10, endpoints }))
  await pool.query('delete from holdfast_internal.rollups where period = 3')
})
afterAll(() => rig.stop())

const daysOf = () =>
  rig.rows<{ lane_id: number; attempts: number }>(
    'select lane_id, sum(attempts)::int as attempts from holdfast_internal.rollups where period = 3 group by lane_id order by lane_id',
  )

it('days are made from hours some endpoints at a time, and an interrupted task continues where it stopped', async () => {
  const { pool } = rig.database
  const step = async () => {
    const client = await pool.connect()
    try {
      return await rollUpLanes(client, 2, 50)
    } finally {
      client.release()
    }
  }
  expect(await step()).toBe(50)
  expect(await daysOf()).toHaveLength(49)
  expect(await step()).toBe(50)
  expect(await step()).toBe(21)
  const days = await daysOf()
  expect(days).toHaveLength(endpoints)
  expect(days).toEqual(
    await rig.rows(`
      select lane_id, sum(attempts)::int as attempts from holdfast_internal.rollups
      where period = 2 and starts_at >= date_trunc('day', now(), 'UTC') - interval '2 days' group by lane_id order by lane_id`),
  )
  // The round is complete: the next one begins anew, and changes nothing.
  expect(await step()).toBe(50)
  expect(await daysOf()).toEqual(days)
})

it('purging old statistics is a task of its own, which no other keeps waiting', () => {
  const names = builtInTasks({ sweepMs: 1000 }).map(({ name }) => name)
  expect(names).toContain('rollups')
  expect(names).toContain('old-rollups')
})
