import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { silentLogger } from '../../../src/engine/logger.ts'
import { ScheduleFirer } from '../../../src/jobs/schedule-firer.ts'
import { ApiRig } from '../../support/api/api-rig.ts'
import { until } from '../../support/engine/until.ts'

let rig: ApiRig

beforeAll(async () => {
  rig = await ApiRig.create()
})

afterAll(async () => {
  expect(rig.complaints).toEqual([])
  await rig.stop()
})

test('a job is made known, scheduled, triggered, and its run looked up and cancelled', async () => {
  const created = await rig.call('POST', '/v1/jobs', {
    body: {
      name: 'nightly-report',
      queue: 'reports',
      cron: '0 3 * * *',
      timezone: 'Europe/Amsterdam',
      timeoutMs: 5000,
    },
  })
  expect(created.status).toBe(201)
  expect(created.body).toMatchObject({
    queue: 'reports',
    cron: '0 3 * * *',
    timezone: 'Europe/Amsterdam',
    overrides: { queue: 'reports', timeoutMs: 5000 },
    state: 'active',
  })
  expect(Date.parse(created.body.nextRunAt)).toBeGreaterThan(Date.now())
  const again = await rig.call('POST', '/v1/jobs', { body: { name: 'nightly-report' } })
  expect([again.status, again.body.code]).toEqual([409, 'job_exists'])

  const triggered = await rig.call('POST', '/v1/jobs/nightly-report/trigger', {
    body: { payload: { month: '2030-01' }, reason: 'by hand' },
  })
  expect(triggered.status).toBe(202)
  const run = await rig.call('GET', `/v1/runs/${triggered.body.id}`)
  expect(run.body).toMatchObject({
    job: 'nightly-report',
    queue: 'reports',
    state: 'waiting',
    payload: { month: '2030-01' },
  })
  const listed = await rig.call('GET', '/v1/runs?job=nightly-report&limit=1')
  expect(listed.body.data.map(({ id }: { id: string }) => id)).toEqual([triggered.body.id])
  const cancelled = await rig.call('POST', `/v1/runs/${triggered.body.id}/cancel`, {
    body: { reason: 'enough' },
  })
  expect(cancelled.body).toEqual({ outcome: 'cancelled' })
  expect((await rig.call('GET', `/v1/runs/${triggered.body.id}`)).body.state).toBe('cancelled')
})

test('a run that has ended is not listed or shown as a delivery', async () => {
  await rig.call('POST', '/v1/jobs', { body: { name: 'no-delivery' } })
  const { id } = (await rig.call('POST', '/v1/jobs/no-delivery/trigger', { body: {} })).body
  await rig.call('POST', `/v1/runs/${id}/cancel`, { body: { reason: 'enough' } })
  for (const filter of ['', '?state=cancelled', '?eventType=no-delivery'])
    expect((await rig.call('GET', `/v1/deliveries${filter}`)).body.data).toEqual([])
  const shown = await rig.call('GET', `/v1/deliveries/${id.replace('run_', 'dlv_')}`)
  expect([shown.status, shown.body.code]).toEqual([404, 'delivery_not_found'])
})

test('settings are overridden and the schedule is changed and ended over the API', async () => {
  await rig.call('POST', '/v1/jobs', { body: { name: 'sync', cron: '*/5 * * * *' } })
  const updated = await rig.call('PATCH', '/v1/jobs/sync', {
    body: { retry: { maxRetries: 9 }, timezone: 'Asia/Tokyo' },
  })
  expect(updated.body.retry.maxRetries).toBe(9)
  expect([updated.body.cron, updated.body.timezone]).toEqual(['*/5 * * * *', 'Asia/Tokyo'])
  const schedule = await rig.call('GET', '/v1/schedules/sync')
  expect(schedule.body.next).toHaveLength(10)
  const ended = await rig.call('PATCH', '/v1/jobs/sync', { body: { cron: null } })
  expect([ended.body.cron, ended.body.nextRunAt]).toEqual([null, null])
  const bad = await rig.call('PATCH', '/v1/jobs/sync', { body: { cron: 'every day' } })
  expect([bad.status, bad.body.code]).toEqual([422, 'invalid_schedule'])
  const paused = await rig.call('POST', '/v1/jobs/sync/pause', { body: { reason: 'holiday' } })
  expect(paused.body).toMatchObject({ state: 'paused', stateReason: 'holiday' })
  expect((await rig.call('POST', '/v1/jobs/sync/enable')).body.state).toBe('active')
})

test('a change of a schedule keeps what it does not name: the options of its runs, and its interval', async () => {
  const stored = async () => {
    const { rows } = await rig.database.pool.query<Record<string, unknown>>(
      `select cron, every_ms::int, timezone, options, payload from holdfast_internal.schedules where name = 'kept'`,
    )
    return rows[0]
  }
  await rig.call('POST', '/v1/jobs', { body: { name: 'kept' } })
  const schedule = { name: 'kept', job: 'kept', payload: { page: 1 }, options: { priority: 3 } } as const
  await rig.holdfast.schedules.set({ ...schedule, cron: '0 3 * * *' })
  await rig.call('PATCH', '/v1/jobs/kept', { body: { timezone: 'Europe/Berlin' } })
  expect(await stored()).toMatchObject({
    cron: '0 3 * * *',
    timezone: 'Europe/Berlin',
    options: { priority: 3 },
    payload: { page: 1 },
  })
  await rig.holdfast.schedules.set({ ...schedule, everyMs: 60_000 })
  await rig.call('PATCH', '/v1/jobs/kept', { body: { payload: { page: 2 } } })
  expect(await stored()).toMatchObject({ every_ms: 60_000, options: { priority: 3 }, payload: { page: 2 } })
  await rig.call('PATCH', '/v1/jobs/kept', { body: { cron: '0 4 * * *' } })
  expect(await stored()).toMatchObject({ cron: '0 4 * * *', every_ms: null, payload: { page: 2 } })
})

test('queues are limited and paused, workers listed and drained', async () => {
  expect((await rig.call('PUT', '/v1/queues/mail', { body: { concurrency: 3 } })).status).toBe(204)
  expect((await rig.call('POST', '/v1/queues/mail/pause', { body: {} })).status).toBe(204)
  const { body } = await rig.call('GET', '/v1/queues')
  expect(body.data.find(({ name }: { name: string }) => name === 'mail')).toMatchObject({
    concurrency: 3,
    state: 'paused',
  })
  const shown = await rig.call('GET', '/v1/queues/mail')
  expect(shown.body).toMatchObject({ name: 'mail', concurrency: 3, owed: 0 })
  expect((await rig.call('GET', '/v1/queues/nowhere')).body.code).toBe('queue_not_found')
  expect((await rig.call('GET', '/v1/workers')).body).toEqual({ data: [], nextCursor: null })
  expect((await rig.call('POST', '/v1/workers/7/drain')).body.code).toBe('worker_not_found')
})

test('a schedule carries the options of its runs', async () => {
  await rig.call('POST', '/v1/jobs', { body: { name: 'rendering' } })
  const settings = { job: 'rendering', everyMs: 60_000, options: { priority: 3, requireTags: ['gpu'] } }
  const { status, body } = await rig.call('PUT', '/v1/schedules/thumbnails', { body: settings })
  expect(status).toBe(200)
  expect(body).toMatchObject(settings)
  expect((await rig.call('GET', '/v1/schedules/thumbnails')).body).toMatchObject(settings)
  const wrong = await rig.call('PUT', '/v1/schedules/thumbnails', {
    body: { ...settings, options: { urgency: 3 } },
  })
  expect(wrong.status).toBe(422)
  expect(wrong.body).toMatchObject({ code: 'invalid_schedule' })
})

describe('a payload beyond what a double holds keeps every digit', () => {
  const payload = '{"id":12345678901234567890,"rate":0.10000000000000000001}'
  const answered = expect.stringContaining(`"payload":${payload}`)
  const text = async (...call: Parameters<ApiRig['call']>) => (await rig.call(...call)).text

  test('in a schedule, and in the run that it creates', async () => {
    await rig.call('POST', '/v1/jobs', { body: { name: 'exact' } })
    const settings = `{"job":"exact","runAt":"2020-01-01T00:00:00Z","payload":${payload}}`
    expect(await text('PUT', '/v1/schedules/exact-once', { body: settings })).toEqual(answered)
    expect(await text('GET', '/v1/schedules/exact-once')).toEqual(answered)
    expect(await text('GET', '/v1/schedules')).toEqual(answered)
    expect(await text('POST', '/v1/schedules/exact-once/pause', { body: {} })).toEqual(answered)
    expect(await text('POST', '/v1/schedules/exact-once/resume', { body: {} })).toEqual(answered)
    const firer = new ScheduleFirer({ database: rig.holdfast.database, logger: silentLogger, pollMs: 20 })
    firer.start()
    try {
      const { body } = await until(
        'the run',
        () => rig.call('GET', '/v1/runs?job=exact'),
        (runs) => runs.body.data.length === 1,
      )
      expect(await text('GET', `/v1/runs/${body.data[0].id}`)).toEqual(answered)
    } finally {
      await firer.stop()
    }
  })

  test('in the schedule of a job, also when another setting of the job changes', async () => {
    const job = `{"name":"exact-job","cron":"0 3 * * *","payload":${payload}}`
    expect(await text('POST', '/v1/jobs', { body: job })).toEqual(answered)
    expect(await text('GET', '/v1/jobs/exact-job')).toEqual(answered)
    expect(await text('GET', '/v1/jobs')).toEqual(answered)
    expect(await text('PATCH', '/v1/jobs/exact-job', { body: { cron: '0 4 * * *' } })).toEqual(answered)
    const other = payload.replace('id', 'other')
    expect(await text('PATCH', '/v1/jobs/exact-job', { body: `{"payload":${other}}` })).toContain(other)
  })

  test('in a triggered run', async () => {
    await rig.call('POST', '/v1/jobs', { body: { name: 'exact-run' } })
    const { body } = await rig.call('POST', '/v1/jobs/exact-run/trigger', { body: `{"payload":${payload}}` })
    expect(await text('GET', `/v1/runs/${body.id}`)).toEqual(answered)
  })
})

test('statistics of an endpoint are asked for over a window', async () => {
  await rig.call('POST', '/v1/endpoints', {
    body: { name: 'crm', config: { url: 'https://crm.example.com' } },
  })
  const { status, body } = await rig.call('GET', '/v1/endpoints/crm/statistics?window=1h')
  expect(status).toBe(200)
  expect(body).toMatchObject({ endpoint: 'crm', window: '1h', attempts: 0, successRate: null })
})
