import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defineJob } from '../../src/jobs/job.ts'
import { ApiRig } from '../support/api/api-rig.ts'
import { runCli } from './cli-process.ts'

let rig: ApiRig
let environment: Record<string, string>

beforeAll(async () => {
  rig = await ApiRig.create()
  environment = { HOLDFAST_URL: rig.server.url, HOLDFAST_API_KEY: rig.adminKey }
  await rig.holdfast.jobs.declare(defineJob({ name: 'report', queue: 'reports' }))
})

afterAll(() => rig.stop())

async function holdfast(...args: string[]) {
  const { exitCode, stdout, stderr } = await runCli(args, { cwd: tmpdir(), environment })
  return { exitCode, stdout, stderr }
}

async function json(...args: string[]) {
  const { stdout, stderr } = await holdfast(...args, '--json')
  expect(stderr).toBe('')
  return JSON.parse(stdout)
}

test('a queue is shown with what it owes, limited, paused and resumed', async () => {
  await rig.holdfast.enqueue('report', {})
  expect(await json('queues', 'show', 'reports')).toMatchObject({ state: 'active', owed: 1 })
  const limited = await holdfast('queues', 'limit', 'reports', '--concurrency', '3', '--rate', '0.5')
  expect(limited.stdout).toBe('reports limited to 3 runs at once, 0.5 a second\n')
  const paused = await holdfast('queues', 'pause', 'reports', '--reason', 'the printer burns')
  expect(paused.stdout).toBe('reports paused\n')
  expect((await holdfast('queues', 'list')).stdout).toMatch(
    /^reports +paused +1 +\S+ s ago +0 +3 +0\.5\/s +0 +the printer burns$/m,
  )
  await holdfast('queues', 'resume', 'reports')
  expect((await holdfast('queues', 'limit', 'reports')).stdout).toBe('reports has no limits\n')
  expect(await json('queues', 'show', 'reports')).toMatchObject({ state: 'active', concurrency: null })
  expect((await holdfast('queues', 'show', 'nowhere')).exitCode).toBe(3)
})

test('a schedule is set, shown with its next times, paused, resumed, and deleted when that was confirmed', async () => {
  const set = await holdfast(
    'schedules',
    'set',
    'nightly',
    '--job',
    'report',
    '--cron',
    '0 3 * * *',
    '--timezone',
    'Asia/Tokyo',
    '--payload',
    '{"month":1}',
    '--overlap',
    'queue',
  )
  expect(set.stdout).toMatch(/^nightly set, next at \d{4}-\d\d-\d\dT18:00:00\.000Z\n$/)
  const shown = await json('schedules', 'show', 'nightly')
  expect(shown).toMatchObject({ job: 'report', payload: { month: 1 }, overlap: 'queue', isPaused: false })
  expect(shown.next).toHaveLength(10)
  await holdfast('schedules', 'pause', 'nightly', '--reason', 'holiday')
  expect((await holdfast('schedules', 'list')).stdout).toMatch(
    /^nightly +report +paused +0 3 \* \* \* Asia\/Tokyo +0 +holiday$/m,
  )
  expect((await holdfast('schedules', 'resume', 'nightly')).stdout).toMatch(/^nightly active, next at 2/)
  const refused = await holdfast('schedules', 'delete', 'nightly')
  expect([refused.exitCode, refused.stderr]).toEqual([
    4,
    expect.stringContaining('This deletes the schedule "nightly".'),
  ])
  expect((await holdfast('schedules', 'delete', 'nightly', '--yes')).stdout).toBe('nightly deleted\n')
  expect((await holdfast('schedules', 'show', 'nightly')).exitCode).toBe(3)
})

test.each([
  [['--every', '90s'], { everyMs: 90_000 }],
  [['--at', '2040-01-01T00:00:00Z'], { runAt: '2040-01-01T00:00:00.000Z' }],
])('a schedule by %j', async (flags, expected) => {
  expect(await json('schedules', 'set', 'other', '--job', 'report', ...flags)).toMatchObject(expected)
})

test('a schedule without a time, or with two, is refused', async () => {
  for (const flags of [[], ['--every', '1h', '--cron', '* * * * *']]) {
    const { exitCode, stderr } = await holdfast('schedules', 'set', 'bad', '--job', 'report', ...flags)
    expect([exitCode, stderr]).toEqual([2, expect.stringContaining('give exactly one of')])
  }
})

test('a run is shown with its correlation id, and found by it, also when it was given none', async () => {
  const given = await json('jobs', 'trigger', 'report', '--correlation-id', 'order-17')
  const own = await json('jobs', 'trigger', 'report')
  const correlation = String((await json('runs', 'show', own.id)).correlationId)
  expect(correlation).toMatch(/^msg_/)
  for (const [id, run] of [
    ['order-17', given.id],
    [correlation, own.id],
  ] as const) {
    expect((await holdfast('runs', 'show', run)).stdout).toMatch(new RegExp(`^correlationId +${id}$`, 'm'))
    const listed = await holdfast('runs', 'list', '--correlation-id', id)
    expect(listed.stdout.match(/run_\w+/g)).toEqual([run])
  }
})

test('the input of a triggered run is an argument, like that of send and publish, or an option', async () => {
  for (const input of [['{"month":"2030-01"}'], ['--payload', '{"month":"2030-01"}']]) {
    const { id } = await json('jobs', 'trigger', 'report', ...input)
    expect((await json('runs', 'show', id)).payload).toEqual({ month: '2030-01' })
  }
  const twice = await holdfast('jobs', 'trigger', 'report', '{}', '--payload', '{}')
  expect([twice.exitCode, twice.stderr]).toEqual([2, expect.stringContaining('give the input once')])
})

test('a run is triggered with the options that a run has', async () => {
  const flags = ['--delay-ms', '60000', '--expires-at', '+2h', '--fair-key', 'acme', '--tenant', 'acme']
  const once = ['--idempotency-key', 'report-17', '--unique-key', '17', '--unique-for-ms', '60000']
  const { id } = await json('jobs', 'trigger', 'report', ...flags, ...once)
  expect(await json('runs', 'show', id)).toMatchObject({ state: 'scheduled', expiresAt: expect.any(String) })
  expect(await json('jobs', 'trigger', 'report', ...flags, ...once)).toEqual({ id })
  for (const key of ['--ordering-key', '--concurrency-key']) {
    const refused = await holdfast('jobs', 'trigger', 'report', '--fair-key', 'acme', key, 'order-17')
    expect(refused.stderr).toContain('fairKey: cannot be combined')
  }
})

test('a payload beyond what a double holds is shown with every digit', async () => {
  const payload = '{"id":12345678901234567890,"rate":0.10000000000000000001}'
  const asJson = expect.stringContaining(`"payload":${payload}`)
  const set = ['schedules', 'set', 'exact', '--job', 'report', '--every', '1d', '--payload', payload]
  expect((await holdfast(...set, '--json')).stdout).toEqual(asJson)
  expect((await holdfast('schedules', 'show', 'exact', '--json')).stdout).toEqual(asJson)
  expect((await holdfast('schedules', 'list', '--json')).stdout).toEqual(asJson)
  expect((await holdfast('schedules', 'show', 'exact')).stdout).toMatch(
    /^payload +\{"id":12345678901234567890,"rate":0\.10000000000000000001\}$/m,
  )
  const { id } = await json('jobs', 'trigger', 'report', '--payload', payload)
  expect((await holdfast('runs', 'show', id, '--json')).stdout).toEqual(asJson)
  const job = ['jobs', 'create', 'exact', '--cron', '0 3 * * *', '--payload', payload]
  expect((await holdfast(...job, '--json')).stdout).toEqual(asJson)
  expect((await holdfast('jobs', 'show', 'exact', '--json')).stdout).toEqual(asJson)
  expect((await holdfast('export')).stdout).toContain('id: 12345678901234567890')
})

test('an alert channel is created with its secret shown once, and deleted with its pending notifications', async () => {
  const created = await holdfast(
    'alert-channels',
    'create',
    'on-call',
    '--kind',
    'webhook',
    '--url',
    'https://on-call.example',
    '--header',
    'x-team: blue',
  )
  expect(created.stdout).toBe('on-call\n')
  expect(created.stderr).toMatch(/shown only once: whsec_/)
  const endpoint = await rig.holdfast.endpoints.get('alerts.on-call')
  expect(endpoint.config).toMatchObject({ headers: { 'x-team': { isSet: true } } })
  await holdfast('alert-channels', 'test', 'on-call')
  const refused = await holdfast('alert-channels', 'delete', 'on-call')
  expect(refused.stderr).toContain(
    'This deletes the alert channel "on-call". 1 undelivered notification would be cancelled.',
  )
  expect((await holdfast('alert-channels', 'delete', 'on-call', '--yes')).stdout).toBe('on-call deleted\n')
  expect((await rig.holdfast.alertChannels.list()).map(({ name }) => name)).not.toContain('on-call')
})
