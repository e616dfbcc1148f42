import { spawnSync } from 'node:child_process'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Rig } from '../support/engine/rig.ts'
import { until } from '../support/engine/until.ts'
import { CliProcess, runCli } from './cli-process.ts'

const hasPromtool = spawnSync('promtool', ['--version']).status === 0

let rig: Rig
let folder: string

beforeAll(async () => {
  rig = await Rig.create()
  folder = await mkdtemp(join(tmpdir(), 'holdfast-worker-'))
  const entry = pathToFileURL(join(import.meta.dirname, '../../dist/index.js')).href
  await writeFile(
    join(folder, 'jobs.mjs'),
    `import { defineJob } from '${entry}'
     export const count = defineJob({
       name: 'count', retry: { maxRetries: 0 },
       run: async (input) => {
         if (input === 'bad') throw new Error('no')
         if (input === 'long') await new Promise((resolve) => setTimeout(resolve, 3_000))
       },
     })`,
  )
})

afterAll(async () => {
  await rig.stop()
  await rm(folder, { recursive: true, force: true })
})

function start(...args: readonly string[]): CliProcess {
  return new CliProcess(['worker', '--import', './jobs.mjs', ...args], {
    cwd: folder,
    environment: { HOLDFAST_DATABASE_URL: rig.database.url },
  })
}

test('a worker reports the outcomes of its runs to Prometheus, and its liveness to a supervisor', async () => {
  await using worker = start('--metrics-port', '0')
  await worker.waitFor('stderr', /executes count/)
  const [, url] = /Metrics on (http:\/\/127\.0\.0\.1:\d+)\/metrics/.exec(worker.stderr) ?? []
  const scrape = async () => (await fetch(`${url}/metrics`)).text()
  for (const input of ['good', 'bad', 'good', 'long']) {
    await rig.rows(`select holdfast.enqueue('count', to_jsonb($1::text))`, [input])
  }
  const body = await until('its runs to be counted', scrape, (page) =>
    [
      'holdfast_runs_total{job="count",outcome="succeeded"} 2',
      'holdfast_runs_total{job="count",outcome="dead"} 1',
      'holdfast_run_duration_seconds_count{job="count"} 3',
      'holdfast_runs_in_progress 1',
      'holdfast_workers 1',
      'holdfast_database_up 1',
    ].every((line) => page.split('\n').includes(line)),
  )
  expect(body).not.toContain('holdfast_deliveries')
  if (hasPromtool) {
    const { status, stdout, stderr } = spawnSync('promtool', ['check', 'metrics'], {
      input: body,
      encoding: 'utf8',
    })
    expect({ status, said: `${stdout}${stderr}` }).toEqual({ status: 0, said: '' })
  }
  expect(await (await fetch(`${url}/livez`)).json()).toEqual({ status: 'alive' })
  expect((await fetch(`${url}/livez`, { method: 'POST' })).status).toBe(405)
  expect((await fetch(`${url}/v1/endpoints`)).status).toBe(404)
  worker.kill('SIGTERM')
  expect(await worker.end()).toMatchObject({ exitCode: 0 })
})

test("a worker that can't start leaves no listener behind", async () => {
  const url = new URL(rig.database.url)
  url.pathname = '/nothing'
  await using worker = new CliProcess(['worker', '--import', './jobs.mjs', '--metrics-port', '0'], {
    cwd: folder,
    environment: { HOLDFAST_DATABASE_URL: url.href },
  })
  expect((await worker.end()).exitCode).not.toBe(0)
  expect(worker.stderr).toContain('Metrics on ')
})

test('a worker whose port is taken says so, and does not run', async () => {
  await using first = start('--metrics-port', '0')
  await first.waitFor('stderr', /executes count/)
  const [, port = ''] = /127\.0\.0\.1:(\d+)/.exec(first.stderr) ?? []
  await using second = start('--metrics-port', port, '--name', 'second')
  const { exitCode } = await second.end()
  expect(exitCode).not.toBe(0)
  expect(second.stderr).toContain(`Can't serve metrics on 127.0.0.1 port ${port} (EADDRINUSE).`)
})

test('jobs as an ES module in a CommonJS package get one sentence that says what to do', async () => {
  const inner = join(folder, 'commonjs')
  await mkdir(inner, { recursive: true })
  await writeFile(join(inner, 'package.json'), '{"type": "commonjs"}')
  await writeFile(join(inner, 'jobs.js'), "import { sep } from 'node:path'\nexport const nothing = sep\n")
  const { exitCode, stderr } = await runCli(['worker', '--import', './jobs.js'], {
    cwd: inner,
    environment: { HOLDFAST_DATABASE_URL: rig.database.url },
  })
  expect(exitCode).toBe(2)
  expect(stderr).toContain(
    './jobs.js (or a file that it imports) is an ES module, but its package.json says "type": "commonjs", or no type: set "type": "module" there, or rename the file to .mjs or .mts.',
  )
})

const { typescript = false } = process.features as { typescript?: string | false }
const runsTypeScript = typescript !== false

test.skipIf(runsTypeScript)(
  'jobs in TypeScript, on a Node.js that can not run it, get one sentence that says what to do',
  async () => {
    await writeFile(join(folder, 'jobs.ts'), 'export const nothing: number = 1')
    const { exitCode, stderr } = await runCli(['worker', '--import', './jobs.ts'], {
      cwd: folder,
      environment: { HOLDFAST_DATABASE_URL: rig.database.url },
    })
    expect(exitCode).toBe(2)
    expect(stderr).toContain(
      `./jobs.ts is TypeScript (or imports it), which Node.js ${process.versions.node} can't run: name the compiled .js file, use Node.js 22.18 or newer, or install tsx and set NODE_OPTIONS='--import tsx'.`,
    )
  },
)
