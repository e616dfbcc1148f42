import { afterAll, beforeAll, expect, test } from 'vitest'
import { purgeBacklogs, sampleBacklogs } from '../../../src/storage/backlogs.ts'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

let rig: Rig
let node: RunningNode

beforeAll(async () => {
  rig = await Rig.create()
  node = await rig.start()
})
afterAll(() => rig.stop())

test('what an endpoint is owed is sampled, and that nothing is any more', async () => {
  const name = await functionEndpoint(node.holdfast, () => undefined)
  const backlog = async () =>
    (await node.holdfast.statistics.endpoint(name, { window: '1h' })).backlog.map(({ pending }) => pending)
  await node.holdfast.endpoints.pause(name)
  await node.holdfast.sendBatch(
    name,
    Array.from({ length: 7 }, (_, k) => ({ payload: k })),
  )
  const client = await rig.database.pool.connect()
  try {
    await until(
      'the backlog to be noted',
      async () => {
        await sampleBacklogs(client, 500)
        return backlog()
      },
      ([first]) => first === 7,
    )
    await client.query(
      `update holdfast_internal.lane_backlogs set starts_at = starts_at - interval '2 minutes' where step_seconds = 60`,
    )
    await node.holdfast.endpoints.resume(name)
    await rig.whenSettled(name)
    // A sample keeps the most of its minute: it must not see what the node reported before.
    await until(
      'the node to report that nothing is owed',
      async () => (await rig.rows('select from holdfast_internal.lane_stats where pending > 0')).length,
      (lanes) => lanes === 0,
    )
    await until(
      'the end of the backlog to be noted',
      async () => {
        await sampleBacklogs(client, 500)
        return backlog()
      },
      (samples) => samples.length === 2 && samples[1] === 0,
    )
    await client.query(
      `update holdfast_internal.lane_backlogs set starts_at = starts_at - interval '26 hours' where step_seconds = 60`,
    )
    expect(await purgeBacklogs(client, 100)).toBe(2)
    expect(await backlog()).toEqual([])
  } finally {
    client.release()
  }
})

test('an endpoint that is no longer among the largest backlogs is not recorded as drained', async () => {
  const own = await Rig.create()
  const client = await own.database.pool.connect()
  try {
    const names = [
      await functionEndpoint(own.client(), () => undefined),
      await functionEndpoint(own.client(), () => undefined),
    ]
    const [first, second] = await Promise.all(names.map((name) => own.laneId(name)))
    const report = (pending: number, lane: number | undefined) =>
      client.query(
        `insert into holdfast_internal.lane_stats (lane_id, pending) values ($2, $1)
         on conflict (lane_id) do update set pending = excluded.pending`,
        [pending, lane],
      )
    await report(9, first)
    await report(5, second)
    await sampleBacklogs(client, 1)
    await client.query(
      `update holdfast_internal.lane_backlogs set starts_at = starts_at - interval '2 minutes' where step_seconds = 60`,
    )
    await report(20, second)
    await sampleBacklogs(client, 1)
    expect(
      await own.rows(
        `select lane_id, pending::int from holdfast_internal.lane_backlogs
         where step_seconds = 60 and starts_at > now() - interval '90 seconds' order by 1`,
      ),
    ).toEqual([{ lane_id: second, pending: 20 }])
  } finally {
    client.release()
    await own.stop()
  }
})
