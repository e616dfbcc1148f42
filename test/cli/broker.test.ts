import { tmpdir } from 'node:os'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { fillBroker } from '../support/amqp/fill-broker.ts'
import { ApiRig } from '../support/api/api-rig.ts'
import { runCli } from './cli-process.ts'

let rig: ApiRig
let environment: Record<string, string>
let letter: string

beforeAll(async () => {
  rig = await ApiRig.create()
  environment = { HOLDFAST_URL: rig.server.url, HOLDFAST_API_KEY: rig.adminKey, COLUMNS: '80' }
})

afterAll(() => rig.stop())

async function holdfast(...args: string[]) {
  const { exitCode, stdout, stderr } = await runCli(args, { cwd: tmpdir(), environment })
  return { exitCode, stdout, stderr }
}

test('without a broker the status says in one sentence how to use one', async () => {
  const { exitCode, stdout, stderr } = await holdfast('broker', 'status')
  expect([exitCode, stdout]).toEqual([0, ''])
  expect(stderr).toMatch(
    /^No live node uses a broker\. Set HOLDFAST_AMQP_URL on every node to let workers get their runs over RabbitMQ: see \S*docs\/broker\.md\n$/,
  )
  expect(JSON.parse((await holdfast('broker', 'status', '--json')).stdout)).toMatchObject({
    isConfigured: false,
    nodes: [],
    queues: [],
  })
})

test('the status has nodes, queues, figures and what differs with the fix', async () => {
  await rig.database.pool.query(
    `insert into holdfast_internal.nodes (incarnation, name, version, beat_at) values (1, 'west-1', '0.1.0', now() + interval '1 hour')`,
  )
  await rig.call('POST', '/v1/jobs', { body: { name: 'print' } })
  const run = await rig.call('POST', '/v1/jobs/print/trigger', { body: {} })
  letter = await fillBroker(rig.database, run.body.id)
  const { exitCode, stdout } = await holdfast('broker', 'status')
  expect(exitCode).toBe(0)
  expect(stdout).toMatch(/^west-1 +connected +\d+ h ago +18211 +2 +\d+ h ago: connect ECONNREFUSED/m)
  expect(stdout).toMatch(/^holdfast\.queue\.default +shared +active +41 +6/m)
  expect(stdout).toMatch(/^holdfast\.queue\.mail +shared +differs +– +–/m)
  expect(stdout).toMatch(/^holdfast\.worker\.press-7 +worker +retired +5 min +2 +0/m)
  expect(stdout).toMatch(/^dead letters handled +25: 12 failed by TTL, 1 by the delivery limit, 1 rejected/m)
  expect(stdout).toMatch(/^handled within +840 ms \(p50\), 2\.1 s \(p95\)/m)
  expect(stdout).toContain('differs  The queue "holdfast.queue.mail" exists with another x-queue-type')
  expect(stdout).toContain('rabbitmqctl delete_queue holdfast.queue.mail')
  const tables = stdout.slice(0, stdout.indexOf('differs'))
  for (const line of tables.split('\n')) expect(line.length).toBeLessThanOrEqual(80)
})

test('the status as JSON is the answer of the API', async () => {
  const { stdout } = await holdfast('broker', 'status', '--json')
  expect(Object.keys(JSON.parse(stdout))).toEqual(Object.keys((await rig.call('GET', '/v1/broker')).body))
})

test('a dead letter of the broker is shown with its history there', async () => {
  const { stdout } = await holdfast('dead-letters', 'show', letter)
  expect(stdout).toMatch(/^reason +worker_queue_ttl_expired$/m)
  expect(stdout).toMatch(/^ON THE BROKER +TIMES +QUEUE/m)
  expect(stdout).toMatch(/^expired +1 +holdfast\.worker\.press-7 /m)
})

test('the doctor has a line for each thing that differs, with the fix', async () => {
  const { exitCode, stdout } = await runCli(['doctor', '--json'], {
    cwd: tmpdir(),
    environment: { HOLDFAST_DATABASE_URL: rig.database.url },
  })
  const { findings } = JSON.parse(stdout)
  expect(exitCode).toBe(1)
  expect(findings.filter(({ check }: { check: string }) => check === 'broker')).toEqual([
    {
      check: 'broker',
      verdict: 'fail',
      message: expect.stringContaining('The queue "holdfast.queue.mail" exists with another x-queue-type'),
      advice: expect.stringContaining('rabbitmqctl delete_queue'),
    },
  ])
})

test('the letters that an operation skipped are listed with the reason', async () => {
  const filter = { ids: [letter] }
  const { body: preview } = await rig.call('POST', '/v1/operations/preview', {
    body: { kind: 'discard', filter, reason: 'old' },
  })
  await rig.call('POST', `/v1/dead-letters/${letter}/resolve`, { body: { note: 'printed by hand' } })
  const { body: operation } = await rig.call('POST', '/v1/operations', {
    body: { kind: 'discard', filter, reason: 'old', asOf: preview.asOf },
  })
  const { stdout } = await holdfast('operations', 'skipped', operation.id)
  expect(stdout).toMatch(new RegExp(`^${letter} +queue default +resolved meanwhile +key:`, 'm'))
  const { body: none } = await rig.call('POST', '/v1/operations', {
    body: { kind: 'redrive', filter: { endpoint: 'nobody' } },
  })
  expect(none.code).toBe('endpoint_not_found')
  expect((await holdfast('operations', 'skipped', 'op_0jm3x1c8000')).exitCode).toBe(3)
})
