import { afterAll, beforeAll, expect, test } from 'vitest'
import { Database } from '../../../src/storage/database.ts'
import { addRollups, purgeSiteRollups, sampleSite } from '../../../src/storage/rollups.ts'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

let rig: Rig
let node: RunningNode

beforeAll(async () => {
  rig = await Rig.create()
  node = await rig.start({ limits: { rollupMs: 20 } })
})
afterAll(() => rig.stop())

const minuteMs = 60_000
const database = () =>
  new Database({ pool: rig.database.pool, preparesStatements: false, deadlineMs: 10_000 })
const site = (window: '1h' | '3h' | '24h' | '7d' | '30d') => node.holdfast.statistics.site({ window })
const stepOf = (stepSeconds: number, agoMs: number) =>
  Math.floor((Date.now() - agoMs) / (stepSeconds * 1000)) * stepSeconds * 1000

test('deliveries of all endpoints are added up, in every window', async () => {
  const good = await functionEndpoint(node.holdfast, () => undefined)
  const bad = await functionEndpoint(node.holdfast, () => {
    throw new PermanentError('no')
  })
  await node.holdfast.sendBatch(
    good,
    Array.from({ length: 30 }, (_, k) => ({ payload: k })),
  )
  await node.holdfast.sendBatch(
    bad,
    Array.from({ length: 10 }, (_, k) => ({ payload: k })),
  )
  await rig.whenSettled(good)
  await rig.whenSettled(bad)
  for (const window of ['1h', '3h', '24h', '7d', '30d'] as const) {
    const { delivered, failed, latencyMs } = await until(
      `all to be counted in ${window}`,
      () => site(window),
      (statistics) => statistics.delivered + statistics.failed >= 40,
    )
    expect({ window, delivered, failed }).toEqual({ window, delivered: 30, failed: 10 })
    expect(latencyMs.p99).toBeGreaterThanOrEqual(latencyMs.p50 ?? Number.NaN)
  }
})

test('events are counted when their minute is over, also one that commits late; the backlog is sampled', async () => {
  const at = stepOf(60, 2 * minuteMs)
  const insert = (afterMs: number, isRun = false) =>
    rig.database.pool.query(
      `insert into holdfast_internal.messages (id, size, is_run, body)
       select holdfast_internal.id_at(to_timestamp($1)) + (1 + random() * 4000)::bigint, 2, $2, '{}'`,
      [(at + afterMs) / 1000, isRun],
    )
  await insert(1000)
  await insert(30_000)
  await insert(31_000, true)
  const acceptedAt = async () =>
    (await site('1h')).series.find((step) => step.at.getTime() === at)?.accepted ?? null
  await node.holdfast.maintenance.run('site-statistics')
  // The node may have counted that minute before they were there.
  await until('its minute to be counted with both', acceptedAt, (accepted) => accepted === 2)
  const client = await rig.database.pool.connect()
  try {
    await insert(45_000)
    await sampleSite(client, 10, 1_000_000)
    if (stepOf(60, 2 * minuteMs) === at) expect(await acceptedAt()).toBe(3)
    const { series } = await site('1h')
    expect(series.map(({ backlog }) => backlog)).toContain(0)
    const [first, ...rest] = series
    for (const [place, step] of rest.entries())
      expect(step.at.getTime() - (first?.at.getTime() ?? 0)).toBe((place + 1) * minuteMs)
  } finally {
    client.release()
  }
})

test('each step is forgotten in its time', async () => {
  const rows = [
    [60, 26],
    [60, 24],
    [900, 24 * 9],
    [900, 24 * 7],
    [3600, 24 * 36],
    [3600, 24 * 34],
  ] as const
  await addRollups(
    database(),
    999_999,
    1,
    [],
    rows.map(([stepSeconds, hours]) => ({
      stepSeconds,
      startsAtMs: stepOf(stepSeconds, hours * 3_600_000),
      attempts: 7,
      successes: 7,
      throttled: 0,
      latencies: [7],
    })),
  )
  const client = await rig.database.pool.connect()
  try {
    await purgeSiteRollups(client, 100)
  } finally {
    client.release()
  }
  const left = await rig.rows<{ step: number }>(
    'select step_seconds as step from holdfast_internal.site_rollups where attempts = 7 order by 1',
    [],
  )
  expect(left.map(({ step }) => step)).toEqual([60, 900, 3600])
})
