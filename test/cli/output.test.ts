import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { ApiRig } from '../support/api/api-rig.ts'
import { until } from '../support/engine/until.ts'
import { CliProcess, cliPath, runCli } from './cli-process.ts'

let rig: ApiRig
let environment: Record<string, string>
let eventId: string
let folder: string
const payload = 'x'.repeat(600_000)

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-output-'))
  rig = await ApiRig.create()
  environment = { HOLDFAST_URL: rig.server.url, HOLDFAST_API_KEY: await rig.keyOf('admin') }
  eventId = (await rig.holdfast.publish('order.created', payload)).id
})
afterAll(async () => {
  await rig.stop()
  await rm(folder, { recursive: true })
})

const inShell = (script: string) =>
  runCli([], {
    environment,
    command: ['sh', '-c', script.replace('holdfast', `"$0" "$1"`), process.execPath, cliPath],
  })

test('output into a pipe whose reader is slow arrives whole', async () => {
  const { stdout } = await inShell(`holdfast events show ${eventId} --json | (sleep 1; cat)`)
  expect(JSON.parse(stdout).payload).toBe(payload)
})

test.runIf(process.platform === 'linux')('output that can not be written is a failure', async () => {
  const { exitCode, stderr } = await inShell(`holdfast events show ${eventId} > /dev/full`)
  expect(stderr).toMatch(/^error {2}The output can't be written: .*ENOSPC.*\.\n$/)
  expect(exitCode).toBe(1)
})

test('a stopped apply says how far it got', async () => {
  const names = Array.from({ length: 3000 }, (_, index) => `  - name: order.n${index}`)
  await writeFile(join(folder, 'many.yaml'), `eventTypes:\n${names.join('\n')}\n`)
  const apply = new CliProcess(['apply', '-f', join(folder, 'many.yaml')], { environment })
  await until('it has begun', async () => (await rig.holdfast.eventTypes.list({ limit: 1 })).length === 1)
  apply.kill('SIGINT')
  const { exitCode, stderr } = await apply.end()
  const [, made] =
    /^Stopped: (\d+) of 3000 changes were made and are kept\. Apply the file again to make the others\.$/m.exec(
      stderr,
    ) ?? []
  expect(exitCode).toBe(130)
  expect(await rig.holdfast.eventTypes.list({ limit: 3000 })).toHaveLength(Number(made))
})

test('an apply that fails shows the signing secrets that it has made', async () => {
  const file = join(folder, 'crm.yaml')
  await writeFile(
    file,
    `endpoints:
  - { name: crm, config: { url: https://crm.example.com } }
routes:
  - { name: orders, eventType: order.*, endpoint: crm, transform: { type: jsonata, expression: '(' } }
`,
  )
  const { exitCode, stderr } = await runCli(['apply', '-f', file], { environment })
  expect(exitCode).not.toBe(0)
  expect(stderr).toMatch(/The signing secret of endpoint crm, shown only once: whsec_/)
  expect(stderr).toMatch(/1 of 2 changes were made/)
})
