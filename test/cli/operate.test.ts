import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { PermanentError } from '../../src/transports/function/handler.ts'
import { ApiRig } from '../support/api/api-rig.ts'
import { until } from '../support/engine/until.ts'
import { type CliOptions, CliProcess, runCli } from './cli-process.ts'

let rig: ApiRig
let folder: string
let environment: Record<string, string>
let isMended = false

beforeAll(async () => {
  rig = await ApiRig.create({
    handlers: {
      shaky: async () => {
        if (!isMended) throw new PermanentError('the ledger is closed')
      },
    },
  })
  folder = await mkdtemp(join(tmpdir(), 'holdfast-operate-'))
  environment = { HOLDFAST_URL: rig.server.url, HOLDFAST_API_KEY: await rig.keyOf('admin') }
  await rig.holdfast.endpoints.create({ name: 'shaky', transport: 'function', eventTypes: ['order.*'] })
  await rig.holdfast.start()
})

afterAll(async () => {
  await rig.stop()
  await rm(folder, { recursive: true, force: true })
})

function holdfast(args: readonly string[], options: CliOptions = {}) {
  return runCli(args, { cwd: folder, environment, ...options })
}

test('tail shows attempts and dead letters as they happen, and Ctrl-C ends it', async () => {
  await using tail = new CliProcess(['tail', '--endpoint', 'shaky'], { cwd: folder, environment })
  await tail.waitFor('stderr', /Following/)
  // Whoever begins to follow is heard of by the nodes a moment later.
  const publishing = setInterval(() => void rig.holdfast.publish('order.created', { id: 1 }), 300)
  await tail.waitFor('stdout', /shaky ← msg_\w+ order\.created permanent .*attempt 1/)
  await tail.waitFor('stdout', /dead letter dlt_\w+ shaky: /)
  clearInterval(publishing)
  tail.kill('SIGINT')
  expect(await tail.end()).toMatchObject({ exitCode: 0 })
})

test('dead letters are redriven by a filter: counted, asked for, followed to the end', async () => {
  const open = async () =>
    (await rig.holdfast.deadLetters.list({ endpoint: 'shaky', state: 'open' })).data.length
  const before = await open()
  expect(before).toBeGreaterThan(0)
  const asked = await holdfast(['dead-letters', 'redrive', '--endpoint', 'shaky'])
  expect(asked.exitCode).toBe(4)
  expect(asked.stderr).toContain(`This would redrive ${before} dead letters.`)
  expect((await holdfast(['dead-letters', 'redrive'])).exitCode, 'neither one nor many').toBe(2)
  isMended = true
  await rig.holdfast.endpoints.resume('shaky')
  const done = await holdfast(['dead-letters', 'redrive', '--endpoint', 'shaky', '--yes'])
  expect(done.stdout).toMatch(new RegExp(`^op_\\w+ redrive succeeded: ${before} of ${before} done\n$`))
  await until('no letter is open', async () => (await open()) === 0)
  const summary = JSON.parse((await holdfast(['dead-letters', 'summary', '--json'])).stdout)
  expect(summary.data).toMatchObject([{ endpoint: 'shaky', dead: 0 }])
})

test("a job's failed runs are found by its name", async () => {
  await rig.database.pool.query(`
    select holdfast.declare_job('tidy-up', '{}'), holdfast.declare_job('other', '{}');
    select holdfast.enqueue('tidy-up', '{}'), holdfast.enqueue('other', '{}');
    select holdfast_internal.fail_runs(array(select id from holdfast_internal.owed_runs), 'permanent', 'handler_error', 'no broom', 0)`)
  const found = JSON.parse((await holdfast(['dead-letters', 'list', '--job', 'tidy-up', '--json'])).stdout)
  expect(found.data).toMatchObject([{ job: 'tidy-up', queue: 'default', error: 'no broom' }])
  expect((await holdfast(['dead-letters', 'list', '--job', 'tidy-up'])).stdout).toContain('queue default')
})

test('a file is applied after its plan was shown, and deletes nothing that was not confirmed', async () => {
  await writeFile(
    join(folder, 'holdfast.yaml'),
    'endpoints:\n  - name: from-file\n    config: { url: https://x.example }\nroutes: []\n',
  )
  const dry = await holdfast(['apply', '-f', 'holdfast.yaml', '--dry-run'])
  expect(dry).toMatchObject({
    exitCode: 0,
    stdout: '+ endpoint from-file\n    config: {"url":"https://x.example"}\n',
  })
  const applied = await holdfast(['apply', '-f', 'holdfast.yaml'])
  expect(applied.stderr).toContain('1 change (1 created, 0 updated, 0 deleted) made.')
  const again = await holdfast(['apply', '-f', 'holdfast.yaml', '--json'])
  expect(JSON.parse(again.stdout)).toEqual({ changes: [], isApplied: false })
  const pruned = await holdfast(['apply', '-f', 'holdfast.yaml', '--prune'])
  expect(pruned.exitCode).toBe(4)
  expect(pruned.stdout).toBe('- endpoint shaky\n')
  expect(pruned.stderr).toContain('This deletes 1 thing that the file does not contain.')
  await writeFile(
    join(folder, 'bad.yaml'),
    'endpoints:\n  - name: from-file\n    limits: { concurrency: 0 }\n',
  )
  const refused = await holdfast(['apply', '-f', 'bad.yaml'])
  expect(refused.exitCode).toBe(2)
  expect(refused.stderr).toContain(
    'bad.yaml:3: endpoints[0].limits.concurrency must be a whole number from 1 to 10000',
  )
})

test('settings are listed, explained, changed and put back', async () => {
  const list = await holdfast(['settings', 'list'])
  expect(list.stdout).toMatch(/dead_letter_retention_days +30 days/)
  const set = await holdfast(['settings', 'set', 'dead_letter_retention_days', '90'])
  expect(set).toMatchObject({
    exitCode: 0,
    stdout: expect.stringContaining('dead_letter_retention_days is 90 days'),
  })
  const get = await holdfast(['settings', 'get', 'dead_letter_retention_days', '--json'])
  expect(JSON.parse(get.stdout)).toMatchObject({ value: 90, default: 30, isDefault: false })
  await holdfast(['settings', 'set', 'defaults', '{"retry":{"maxRetries":5}}'])
  expect((await rig.holdfast.settings.get('defaults')).value).toEqual({ retry: { maxRetries: 5 } })
  for (const name of ['defaults', 'dead_letter_retention_days']) await holdfast(['settings', 'reset', name])
  expect((await rig.holdfast.settings.list()).filter(({ isDefault }) => !isDefault)).toEqual([])
})

test('a wrong setting is refused with what to do', async () => {
  const misspelt = await holdfast(['settings', 'set', 'dead_leter_retention_days', '90'])
  expect(misspelt).toMatchObject({
    exitCode: 3,
    stderr: expect.stringContaining('Did you mean dead_letter_retention_days?'),
  })
  const wrong = await holdfast(['settings', 'set', 'dead_letter_retention_days', 'ninety'])
  expect(wrong.stderr).toContain('must be a whole number from 1 to 36500')
  expect(wrong.exitCode).not.toBe(0)
})
