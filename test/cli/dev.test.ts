import { spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { chmod, chown, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { isProcessAlive } from '../../src/postgres/embedded/process-identity.ts'
import { CliProcess, cliPath, runCli } from './cli-process.ts'

const isRoot = process.getuid?.() === 0
const nobody = 65_534

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-dev-'))
  await chmod(folder, 0o755)
})

afterEach(async () => {
  await rm(folder, { recursive: true, force: true })
})

async function startDev(args: readonly string[] = [], uid?: number): Promise<CliProcess> {
  const dev = new CliProcess(['dev', ...args], { cwd: folder, ...(uid !== undefined && { uid }) })
  await dev.waitFor('stderr', /is running/)
  return dev
}

async function serverPid(): Promise<number> {
  const { stdout } = await runCli(['doctor', '--json'], { cwd: folder })
  expect(JSON.parse(stdout).isSound).toBe(true)
  const url = await readFile(join(folder, '.holdfast/database-url'), 'utf8')
  const client = new Client({ connectionString: url.trim() })
  await client.connect()
  const { rows } = await client.query<{ pid: number }>(
    `select (regexp_match(pg_read_file('postmaster.pid'), '^\\d+'))[1]::int as pid`,
  )
  await client.end()
  return rows[0]!.pid
}

/** A checkout below `/root` is out of an ordinary user's reach. */
function canRunAs(uid: number): boolean {
  return spawnSync(process.execPath, [cliPath, '--version'], { uid, gid: uid, cwd: '/' }).status === 0
}

const accounts: readonly (readonly [string, number | undefined])[] = isRoot
  ? [
      ['root', undefined],
      ['an ordinary user', nobody],
    ]
  : [['an ordinary user', undefined]]

describe.each(accounts)('dev as %s', (_, uid) => {
  test('delivers the first message to its inbox, and stops clean', async (context) => {
    if (uid !== undefined && !canRunAs(uid)) context.skip('this checkout is out of reach for other accounts')
    if (uid !== undefined) await chown(folder, uid, uid)
    await using dev = await startDev([], uid)
    expect(await readFile(join(folder, '.holdfast/.gitignore'), 'utf8')).toBe('*\n')
    expect(dev.stderr, 'a key in a log').not.toMatch(/hf_/)
    const command = /holdfast (send inbox '\{"hello":"world"\}')/.exec(dev.stderr)?.[1]
    expect(command, 'the banner names the next command').toBeDefined()

    const sent = await runCli(['send', 'inbox', '{"hello":"world"}', '--type', 'greeting'], {
      cwd: folder,
      ...(uid !== undefined && { uid }),
    })
    expect(sent.stderr).toContain(`Follow it with: holdfast events show ${sent.stdout.trim()}`)
    await dev.waitFor('stdout', new RegExp(`inbox ← ${sent.stdout.trim()} greeting {"hello":"world"}`))

    for (const file of ['dev.json', 'database-url']) {
      expect((await stat(join(folder, '.holdfast', file))).mode & 0o777, file).toBe(0o600)
    }
    const inboxUrl = /inbox +(http:\/\/127\.0\.0\.1:\d+\/)/.exec(dev.stderr)?.[1]
    const seen = (await (await fetch(inboxUrl!)).json()) as { id: string; body: string }[]
    expect(seen).toMatchObject([{ id: sent.stdout.trim(), type: 'greeting', body: '{"hello":"world"}' }])

    const pid = await serverPid()
    dev.kill('SIGTERM')
    expect(await dev.end()).toMatchObject({ exitCode: 0 })
    expect(isProcessAlive(pid)).toBe(false)
    await expect(stat(join(folder, '.holdfast', 'dev.json'))).rejects.toThrow('ENOENT')
  })
})

test('what was owed at a kill is delivered after the next start', async () => {
  await using first = await startDev()
  await runCli(['endpoints', 'pause', 'inbox'], { cwd: folder })
  const sent = await runCli(['send', 'inbox', '{"kept":true}'], { cwd: folder })
  first.kill('SIGKILL')
  await first.end()
  expect((await runCli(['endpoints', 'list'], { cwd: folder })).stderr).toContain('with: holdfast dev')

  await using second = await startDev(['--json'])
  await runCli(['endpoints', 'resume', 'inbox'], { cwd: folder })
  await second.waitFor('stdout', /"id"/)
  expect(JSON.parse(second.stdout)).toMatchObject({ id: sent.stdout.trim(), body: '{"kept":true}' })
  second.kill('SIGINT')
  expect(await second.end()).toMatchObject({ exitCode: 0 })
})

test('a second dev on the same data is refused with the process to stop', async () => {
  await using dev = await startDev()
  const second = await runCli(['dev'], { cwd: folder })
  expect(second.exitCode).toBe(4)
  expect(second.stderr).toContain(`in use by process ${dev.pid}`)
  dev.kill('SIGTERM')
  await dev.end()
})

test('on a port in use, dev says so before it makes a database', async () => {
  const other = createServer().listen({ host: '127.0.0.1', port: 0 })
  await once(other, 'listening')
  const { port } = other.address() as AddressInfo
  const { exitCode, stderr } = await runCli(['dev', '--port', String(port)], { cwd: folder })
  expect(exitCode).toBe(2)
  expect(stderr).toContain(`Port ${port} on 127.0.0.1 is in use`)
  expect(await readdir(join(folder, '.holdfast'))).toEqual(['.gitignore'])
  other.close()
})

test.runIf(existsSync('/proc/self'))('a data dir below /proc is refused with 2', async () => {
  const { exitCode, stderr } = await runCli(['dev', '--data-dir', '/proc/holdfast'], { cwd: folder })
  expect(exitCode).toBe(2)
  expect(stderr).toContain("The data folder /proc/holdfast can't be used")
})

test('when its server dies, dev says so and ends with 5', async () => {
  await using dev = await startDev()
  process.kill(await serverPid(), 'SIGKILL')
  const { exitCode, stderr } = await dev.end()
  expect(exitCode).toBe(5)
  expect(stderr).toContain('The embedded PostgreSQL ended unexpectedly')
})

test('a stop signal while it is still starting stops it clean', async () => {
  await using dev = new CliProcess(['dev'], { cwd: folder })
  await dev.waitFor('stderr', /Starting the embedded PostgreSQL/)
  dev.kill('SIGTERM')
  expect(await dev.end()).toMatchObject({ exitCode: 0 })
})
