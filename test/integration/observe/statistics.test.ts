import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RollupCounter } from '../../../src/engine/statistics/rollup-counter.ts'
import { RollupWriter } from '../../../src/engine/statistics/rollup-writer.ts'
import { SiteCounter } from '../../../src/engine/statistics/site-counter.ts'
import { Database } from '../../../src/storage/database.ts'
import { addRollups } from '../../../src/storage/rollups.ts'
import { PermanentError } from '../../../src/transports/function/handler.ts'
import { functionEndpoint, Rig, type RunningNode } from '../../support/engine/rig.ts'
import { until } from '../../support/engine/until.ts'

describe('statistics', () => {
  let rig: Rig
  let node: RunningNode

  beforeAll(async () => {
    rig = await Rig.create()
    node = await rig.start({ limits: { rollupMs: 20 } })
  })
  afterAll(() => rig.stop())

  const database = () =>
    new Database({ pool: rig.database.pool, preparesStatements: false, deadlineMs: 10_000 })
  const statisticsOf = (name: string, window: '1h' | '24h' | '7d' | '30d' = '1h') =>
    node.holdfast.statistics.endpoint(name, { window })
  const hourAgo = (hours: number) => Math.floor(Date.now() / 3_600_000 - hours) * 3_600_000
  const minuteAgo = (minutes: number) => Math.floor(Date.now() / 60_000 - minutes) * 60_000
  let flush = 1_000_000

  /** Counts as a node would have written them. */
  const counted = async (
    endpoint: string,
    period: number,
    startsAtMs: number,
    attempts: number,
    successes = attempts,
  ) => {
    flush += 1
    const lane = await rig.laneId(endpoint)
    const row = {
      lane,
      period,
      startsAtMs,
      attempts,
      successes,
      throttled: 0,
      durations: [0, attempts],
      answers: { ok: attempts },
    }
    await addRollups(database(), 999_999, flush, [row], [])
  }

  it('say how an endpoint did: rate, durations, answers, over time', async () => {
    const name = await functionEndpoint(
      node.holdfast,
      async (message) => {
        const number = message.payload as number
        if (number % 4 === 0) throw new PermanentError('no')
        await new Promise((resolve) => setTimeout(resolve, number % 4 === 1 ? 60 : 0))
      },
      { limits: { concurrency: 50 } },
    )
    await node.holdfast.sendBatch(
      name,
      Array.from({ length: 100 }, (_, index) => ({ payload: index })),
    )
    await rig.whenSettled(name)
    const statistics = await until(
      'all to be counted',
      () => statisticsOf(name),
      ({ attempts }) => attempts >= 100,
    )
    expect(statistics).toMatchObject({
      attempts: 100,
      successes: 75,
      successRate: 0.75,
      answers: { ok: 75, handler_error: 25 },
    })
    expect(statistics.latencyMs.p99).toBeGreaterThan(50)
    expect(statistics.latencyMs.p50).toBeLessThan(statistics.latencyMs.p99!)
    expect(statistics.attemptsPerSecond).toBeCloseTo(100 / 3600)
    expect(statistics.series.reduce((sum, point) => sum + point.attempts, 0)).toBe(100)
    for (const window of ['24h', '7d', '30d'] as const) {
      expect(await statisticsOf(name, window)).toMatchObject({ attempts: 100, successes: 75 })
    }
    expect(await node.holdfast.statistics.endpoints({ window: '1h' })).toMatchObject([
      { endpoint: name, attempts: 100 },
    ])
  })

  it('look back exactly as far as they are asked to', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    await counted(name, 1, minuteAgo(30), 1)
    await counted(name, 1, minuteAgo(90), 10)
    await counted(name, 2, hourAgo(2), 11)
    await counted(name, 2, hourAgo(24 * 5), 100)
    await counted(name, 2, hourAgo(24 * 20), 1000)
    expect((await statisticsOf(name, '1h')).attempts).toBe(1)
    expect((await statisticsOf(name, '24h')).attempts).toBe(11)
    expect((await statisticsOf(name, '7d')).attempts).toBe(111)
    expect((await statisticsOf(name, '30d')).attempts).toBe(1111)
    expect((await statisticsOf(name, '7d')).series).toHaveLength(2)
  })

  it('count a flush once, however often its answer got lost', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    const lane = await rig.laneId(name)
    const row = {
      lane,
      period: 1,
      startsAtMs: minuteAgo(1),
      attempts: 5,
      successes: 5,
      throttled: 0,
      durations: [5],
      answers: { ok: 5 },
    }
    for (const number of [1, 1, 2, 1, 2]) await addRollups(database(), 999_998, number, [row], [])
    expect((await statisticsOf(name)).attempts).toBe(10)
  })

  it('keep what could not be written, and lose nothing that came meanwhile', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    const lane = { id: await rig.laneId(name) }
    const counter = new RollupCounter()
    const attempt = () =>
      counter.attempted(
        { lane } as never,
        { class: 'success', isHealthFailure: false, durationMs: 3, statusCode: 200 },
        Date.now(),
      )
    let isAway = true
    const away = Object.assign(new Error('gone'), { code: 'ECONNRESET' })
    const flaky = {
      query: (...given: Parameters<Database['query']>) =>
        isAway ? Promise.reject(away) : database().query(...given),
    }
    const writer = new RollupWriter({
      database: flaky as unknown as Database,
      counter,
      site: new SiteCounter(),
      incarnation: () => 999_997,
    })
    attempt()
    await expect(writer.flush()).rejects.toBe(away)
    attempt()
    isAway = false
    await writer.flush()
    await writer.flush()
    expect(await statisticsOf(name)).toMatchObject({ attempts: 2, answers: { '200': 2 } })
  })

  it('fold rare answers together, so that no receiver fills the table', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    const lane = { id: await rig.laneId(name) }
    const counter = new RollupCounter()
    for (let index = 0; index < 200; index++) {
      const error = { code: `made_up_${index}`, message: '' }
      counter.attempted(
        { lane } as never,
        { class: 'retryable', isHealthFailure: true, durationMs: 1, error },
        Date.now(),
      )
    }
    const site = new SiteCounter()
    await new RollupWriter({ database: database(), counter, site, incarnation: () => 999_996 }).flush()
    const { answers } = await statisticsOf(name)
    expect(Object.keys(answers).length).toBeLessThanOrEqual(33)
    expect(Object.values(answers).reduce((sum, count) => sum + count, 0)).toBe(200)
  })

  it('outlive the partitions: days are made from hours, and each is forgotten in its time', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    const lane = await rig.laneId(name)
    const today = Math.floor(Date.now() / 86_400_000) * 86_400_000
    await counted(name, 2, today, 7, 6)
    await counted(name, 2, today - 3_600_000, 5, 5)
    await counted(name, 1, minuteAgo(26 * 60), 1)
    await counted(name, 2, hourAgo(24 * 36), 1)
    await counted(name, 3, today - 401 * 86_400_000, 1)
    await counted(name, 3, today - 300 * 86_400_000, 9)
    const days = () =>
      rig.rows<{ attempts: number; successes: number }>(
        'select attempts, successes from holdfast_internal.rollups where lane_id = $1 and period = 3 order by starts_at desc',
        [lane],
      )
    const run = async (task: string) => {
      const succeededAt = () =>
        rig.value<Date | null>(
          'select last_succeeded_at from holdfast_internal.maintenance_tasks where name = $1',
          [task],
        )
      const before = await succeededAt()
      await node.holdfast.maintenance.run(task)
      await until(`a run of ${task}`, async () => {
        const at = await succeededAt()
        return at !== null && (before === null || at > before)
      })
    }
    for (let round = 1; round <= 2; round++) {
      await run('rollups')
      await run('old-rollups')
      expect(await days()).toEqual([
        { attempts: 7, successes: 6 },
        { attempts: 5, successes: 5 },
        { attempts: 9, successes: 9 },
      ])
    }
    expect(
      await rig.value(`select count(*) from holdfast_internal.rollups where lane_id = $1 and period <> 3`, [
        lane,
      ]),
    ).toBe(2)
  })

  it('feed the alert on an endpoint that fails more often than not', async () => {
    const name = await functionEndpoint(node.holdfast, () => undefined)
    const findings = () =>
      rig.rows<{ subject: string; value: number }>(
        `select * from holdfast_internal.alert_findings('failure_rate', 0.5, $1, null)`,
        [name],
      )
    await counted(name, 1, minuteAgo(1), 19, 0)
    expect(await findings()).toEqual([])
    await counted(name, 1, minuteAgo(1), 1, 1)
    expect(await findings()).toEqual([{ subject: name, value: 0.95 }])
    await counted(name, 1, minuteAgo(0), 40, 40)
    expect(await findings()).toEqual([])
  })

  it('refuse a window that is not kept, and an unknown endpoint', async () => {
    await expect(statisticsOf('nobody')).rejects.toMatchObject({ code: 'endpoint_not_found' })
    await expect(statisticsOf('nobody', '2h' as never)).rejects.toMatchObject({ code: 'invalid_filter' })
  })
})
