import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { findFreePort } from '../../src/postgres/embedded/free-port.ts'
import { until } from '../support/engine/until.ts'
import { DatabaseProcess } from '../support/processes/database-process.ts'
import { CliProcess, runCli } from './cli-process.ts'

const password = 's3cretpassword'

let database: DatabaseProcess
let folder: string
let port: number

beforeAll(async () => {
  database = await DatabaseProcess.start()
  folder = await mkdtemp(join(tmpdir(), 'holdfast-away-'))
  const entry = pathToFileURL(join(import.meta.dirname, '../../dist/index.js')).href
  await writeFile(
    join(folder, 'jobs.mjs'),
    `import { defineJob } from '${entry}'; export const nothing = defineJob({ name: 'nothing', run: async () => {} })`,
  )
})

afterAll(async () => {
  await database[Symbol.asyncDispose]()
  await rm(folder, { recursive: true, force: true })
})

beforeEach(async () => {
  port = await findFreePort(null)
})

afterEach(async () => {
  await database.restart().catch(() => {})
})

const commands = {
  serve: () => ['serve', '--port', String(port)],
  dev: () => ['dev', '--port', String(port)],
  worker: () => ['worker', '--import', './jobs.mjs', '--metrics-port', String(port)],
}
type CommandName = keyof typeof commands

/** Where the database is, with another part of the URL. */
function urlWith(change: (url: URL) => void): string {
  const url = new URL(database.url)
  change(url)
  return url.href
}

const options = (url: string) => ({ cwd: folder, environment: { HOLDFAST_DATABASE_URL: url } })

const get = (path: string) => fetch(`http://127.0.0.1:${port}${path}`)

describe.each(['serve', 'dev', 'worker'] as const)(
  '%s beside a database that is away',
  (name: CommandName) => {
    test('waits and says for what, distinguishes liveness from readiness, and starts when the database is available', async () => {
      await database.stop()
      const { host, port: databasePort, password: secret } = new URL(database.url)
      await using running = new CliProcess(commands[name](), options(database.url))
      await running.waitFor(
        'stderr',
        new RegExp(`Waiting for PostgreSQL at ${host}: the connection was refused`),
      )
      expect(host).toContain(databasePort)
      const headers = { authorization: 'Bearer hf_0123456789_0123456789abcdefghij' }
      for (const init of [{}, { headers }]) {
        expect((await fetch(`http://127.0.0.1:${port}/livez`, init)).status).toBe(200)
      }
      const notReady = await get('/readyz')
      expect([notReady.status, notReady.headers.get('retry-after')]).toEqual([503, '1'])
      const { status, reason } = (await notReady.json()) as { status: string; reason: string }
      expect(status).toBe('not_ready')
      expect(reason).toMatch(
        name === 'worker'
          ? /is waiting for its database/
          : /^PostgreSQL can't be used: the connection was refused\.$/,
      )
      expect(reason).not.toContain(databasePort)
      if (name !== 'worker') {
        for (const path of ['/v1/endpoints', '/', '/sign-in', '/nowhere']) {
          const refused = await get(path)
          expect([refused.status, refused.headers.get('retry-after')]).toEqual([503, '1'])
          expect(await refused.json()).toMatchObject({ code: 'starting', status: 503 })
        }
      }
      await database.restart()
      await until(
        'readiness',
        async () => (await get('/readyz')).status,
        (found) => found === 200,
        30_000,
      )
      if (name !== 'worker') expect((await get('/v1/endpoints')).status).toBe(401)
      running.kill('SIGTERM')
      const { exitCode, stderr } = await running.end()
      expect(exitCode, stderr).toBe(0)
      expect(stderr).not.toContain(secret)
    })

    test('ends at once, with 0, by a stop signal while it waits', async () => {
      await using running = new CliProcess(
        commands[name](),
        options(`postgres://ada:${password}@127.0.0.1:1,127.0.0.1:2/app`),
      )
      await running.waitFor('stderr', /Waiting for PostgreSQL at 127\.0\.0\.1:1, 127\.0\.0\.1:2/)
      running.kill('SIGTERM')
      const { exitCode, stderr } = await running.end()
      expect(exitCode, stderr).toBe(0)
      expect(stderr).not.toContain(password)
    })

    test('does not wait for a password or a database to become right', async () => {
      const wrongPassword = await runCli(
        commands[name](),
        options(urlWith((url) => (url.password = password))),
      )
      expect(wrongPassword.exitCode, wrongPassword.stderr).toBe(5)
      expect(wrongPassword.stderr).toContain('PostgreSQL rejected the connection')
      expect(wrongPassword.stderr).not.toContain(password)
      const unknown = await runCli(commands[name](), options(urlWith((url) => (url.pathname = '/nowhere'))))
      expect(unknown.exitCode, unknown.stderr).toBe(5)
      expect(unknown.stderr).toContain('database "nowhere" does not exist')
    })
  },
)
