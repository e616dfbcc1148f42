import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync } from 'node:fs'
import {
  appendFile,
  chmod,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  stat,
  writeFile,
} from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { readStartMark } from '../../../src/postgres/embedded/process-identity.ts'
import {
  type EmbeddedPostgres,
  type EmbeddedPostgresOptions,
  startEmbeddedPostgres,
} from '../../../src/postgres/embedded/start-embedded-postgres.ts'

const isRoot = process.getuid?.() === 0
const isLinux = process.platform === 'linux'

let clusterDir: string
let folder: string
let dataDir: string
const cleanUps: (() => Promise<unknown>)[] = []

beforeAll(async () => {
  clusterDir = await mkdtemp(join(tmpdir(), 'holdfast-cluster-'))
  const server = await startEmbeddedPostgres({ dataDir: clusterDir })
  await server.stop()
})

afterAll(() => rm(clusterDir, { recursive: true }))

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'holdfast-embedded-'))
  dataDir = join(folder, 'data')
  // One cluster moves from test to test: to create one for each would take most of their time.
  await rename(clusterDir, dataDir)
})

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).toReversed()) await cleanUp()
  await rename(dataDir, clusterDir)
  await rm(folder, { recursive: true, force: true })
})

async function start(options: Partial<EmbeddedPostgresOptions> = {}): Promise<EmbeddedPostgres> {
  const server = await startEmbeddedPostgres({ dataDir, ...options })
  cleanUps.push(() => server.stop())
  return server
}

async function query(connectionString: string, sql: string): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString })
  client.on('error', () => {})
  await client.connect()
  const { rows } = await client.query<Record<string, unknown>>(sql)
  await client.end()
  return rows
}

interface Supervised {
  readonly child: ChildProcess
  readonly connectionString: string
  readonly serverPid: number
}

async function startInChild(): Promise<Supervised> {
  const script = fileURLToPath(new URL('embedded-child.ts', import.meta.url))
  const child = spawn(process.execPath, ['--import', 'tsx', script, dataDir], {
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  })
  const [line] = (await once(child.stdout, 'data')) as [Buffer]
  cleanUps.push(async () => {
    child.kill('SIGKILL')
    await expect.poll(() => processesIn(dataDir), { timeout: 20_000 }).toEqual([])
  })
  return { child, ...(JSON.parse(line.toString()) as { connectionString: string; serverPid: number }) }
}

async function killAndWait({ child }: Supervised): Promise<void> {
  child.kill('SIGKILL')
  await once(child, 'exit')
}

async function parentOf(pid: number): Promise<number> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  return Number(/^PPid:\s+(\d+)/m.exec(status)?.[1])
}

async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  return text.split(' ').filter(Boolean).map(Number)
}

/** The processes whose working directory lies in the data dir. */
async function processesIn(path: string): Promise<number[]> {
  const found: number[] = []
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const cwd = await readlink(`/proc/${name}/cwd`).catch(() => '')
    if (cwd.startsWith(path)) found.push(Number(name))
  }
  return found
}

describe('the first start', () => {
  test('creates a private cluster that answers on loopback to its password only', async () => {
    await rm(dataDir, { recursive: true })
    const server = await start()

    expect(server.version).toMatch(/^18\./)
    expect((await stat(dataDir)).mode & 0o777).toBe(0o700)
    expect((await stat(join(dataDir, 'postgres'))).mode & 0o777).toBe(0o700)
    expect((await stat(join(dataDir, 'postgres.password'))).mode & 0o777).toBe(0o600)
    const [settings] = await query(
      server.connectionString,
      `select current_database() as database, current_setting('server_encoding') as encoding,
              current_setting('data_checksums') as checksums, current_setting('listen_addresses') as addresses,
              current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit,
              (select string_agg(distinct auth_method, ',') from pg_hba_file_rules) as auth`,
    )
    expect(settings).toEqual({
      database: 'holdfast',
      encoding: 'UTF8',
      checksums: 'on',
      addresses: '127.0.0.1',
      fsync: 'on',
      commit: 'on',
      auth: 'scram-sha-256',
    })
    const wrongPassword = `postgres://holdfast:wrong@127.0.0.1:${server.port}/holdfast`
    await expect(query(wrongPassword, 'select 1')).rejects.toThrow('password authentication failed')
  })

  test('removes what a first start that was cut off left behind', async () => {
    await rm(join(dataDir, 'postgres'), { recursive: true })
    await writeFile(join(dataDir, 'postgres-unfinished-00000000'), 'half a cluster')

    await start()
    expect((await readdir(dataDir)).filter((name) => name.includes('unfinished'))).toEqual([])
  })
})

describe('stopping', () => {
  test('is safe twice, ends open sessions, and keeps data and port for the next start', async () => {
    const first = await start()
    await query(first.connectionString, 'drop table if exists kept; create table kept as select 42 as n')
    const session = new Client({ connectionString: first.connectionString })
    session.on('error', () => {})
    await session.connect()
    await session.query('begin')

    await Promise.all([first.stop(), first.stop()])
    await first.stop()
    expect(await first.exited).toEqual({ exitCode: 0, wasStopped: true })
    expect(await readStartMark(first.pid)).toBeNull()

    const second = await start()
    expect(second.connectionString).toBe(first.connectionString)
    expect(await query(second.connectionString, 'select n from kept')).toEqual([{ n: 42 }])
  })

  test('tells when the server ended by itself', async () => {
    const warnings: string[] = []
    const server = await start({ logger: { info: () => {}, warn: (_, message) => warnings.push(message) } })
    process.kill(server.pid, 'SIGQUIT')
    expect(await server.exited).toMatchObject({ wasStopped: false })
    expect(warnings).toEqual(['the embedded PostgreSQL ended unexpectedly'])
    await start()
  })

  test.runIf(isLinux)('reaches for harder means when a fast shutdown takes too long', async () => {
    const server = await start({ fastShutdownSeconds: 1 })
    const stuck = new Client({ connectionString: server.connectionString })
    stuck.on('error', () => {})
    await stuck.connect()
    const { rows } = await stuck.query<{ pid: number }>('select pg_backend_pid() as pid')
    process.kill(rows[0]!.pid, 'SIGSTOP')
    await server.stop()
    await expect.poll(() => processesIn(dataDir)).toEqual([])
  })
})

describe('the lock', () => {
  test('refuses a second start of the same data in this process and in another', async () => {
    await start()
    await expect(startEmbeddedPostgres({ dataDir })).rejects.toMatchObject({
      code: 'data_dir_locked',
      message: expect.stringContaining(`in use by process ${process.pid}`),
    })
  })

  test('names the process that holds the data', async () => {
    const supervised = await startInChild()
    await expect(startEmbeddedPostgres({ dataDir })).rejects.toMatchObject({
      code: 'data_dir_locked',
      details: { pid: supervised.child.pid },
    })
  })

  test('lets exactly one of five simultaneous starts through', async () => {
    const results = await Promise.allSettled(
      Array.from({ length: 5 }, () => startEmbeddedPostgres({ dataDir })),
    )
    const servers = results.filter((result) => result.status === 'fulfilled').map((result) => result.value)
    for (const server of servers) cleanUps.push(() => server.stop())
    expect(servers).toHaveLength(1)
    for (const result of results) {
      if (result.status === 'rejected') expect(result.reason).toMatchObject({ code: 'data_dir_locked' })
    }
  })

  test('takes over from a dead process, from another program with its id, and from a broken file', async () => {
    const ended = spawn(process.execPath, ['-e', ''])
    await once(ended, 'exit')
    const locks = {
      'server-1-aa.lock': JSON.stringify({ pid: ended.pid, startMark: null }),
      'server-2-bb.lock': JSON.stringify({ pid: process.pid, startMark: 'another program' }),
      'server-3-cc.lock': '',
    }
    for (const [name, text] of Object.entries(locks)) await writeFile(join(dataDir, name), text)

    await start()
    const left = (await readdir(dataDir)).filter((name) => name.endsWith('.lock'))
    expect(left).toHaveLength(1)
    expect(left[0]).toMatch(`server-${process.pid}-`)
  })
})

describe.runIf(isLinux)('a killed supervisor', () => {
  test('leaves no process behind, and committed data survives', async () => {
    const supervised = await startInChild()
    await query(
      supervised.connectionString,
      'drop table if exists kept; create table kept as select generate_series(1, 1000) as n',
    )
    await killAndWait(supervised)

    await expect.poll(() => processesIn(dataDir), { timeout: 10_000 }).toEqual([])
    const server = await start()
    expect(await query(server.connectionString, 'select count(*)::int from kept')).toEqual([{ count: 1000 }])
  })

  test('can be replaced at once, while the old server still shuts down', async () => {
    const supervised = await startInChild()
    await query(supervised.connectionString, 'drop table if exists kept; create table kept as select 1 as n')
    await killAndWait(supervised)
    const server = await start()
    expect(await query(server.connectionString, 'select n from kept')).toEqual([{ n: 1 }])
  })

  test('recovers when everything was killed at once', async () => {
    const supervised = await startInChild()
    await query(
      supervised.connectionString,
      'drop table if exists kept; create table kept as select generate_series(1, 1000) as n',
    )
    const guardPid = await parentOf(supervised.serverPid)
    const guards = await childrenOf(guardPid)
    const backends = await childrenOf(supervised.serverPid)
    // All stand still first: one that sees another die ends the server in order.
    supervised.child.kill('SIGSTOP')
    for (const signal of ['SIGSTOP', 'SIGKILL'] as const) {
      for (const pid of [guardPid, ...guards, ...backends]) {
        try {
          process.kill(pid, signal)
        } catch {
          // A backend whose client has gone may have ended by itself.
        }
      }
    }
    await killAndWait(supervised)
    expect(existsSync(join(dataDir, 'postgres', 'postmaster.pid'))).toBe(true)

    const server = await start()
    expect(await query(server.connectionString, 'select count(*)::int from kept')).toEqual([{ count: 1000 }])
  })

  test('ends an orphan that lost its guard before it starts a new server', async () => {
    const supervised = await startInChild()
    const guardPid = await parentOf(supervised.serverPid)
    const guards = (await childrenOf(guardPid)).filter((pid) => pid !== supervised.serverPid)
    for (const pid of [...guards, guardPid]) process.kill(pid, 'SIGKILL')
    await killAndWait(supervised)
    expect(await readStartMark(supervised.serverPid)).not.toBeNull()

    const server = await start()
    expect(await readStartMark(supervised.serverPid)).toBeNull()
    expect(await query(server.connectionString, 'select 1 as n')).toEqual([{ n: 1 }])
  })

  test('starts though another program has the id that the old server had', async () => {
    const stranger = spawn('sleep', ['60'])
    cleanUps.push(async () => stranger.kill('SIGKILL'))
    const pidFile = join(dataDir, 'postgres', 'postmaster.pid')
    await writeFile(pidFile, `${stranger.pid}\n${dataDir}/postgres\n1\n1\n\n127.0.0.1\n\nready\n`)

    await start()
    expect(stranger.exitCode).toBeNull()
  })

  test('does not pass an interrupt of its process group on to the server', async () => {
    const supervised = await startInChild()
    process.kill(-supervised.child.pid!, 'SIGINT')
    expect(await query(supervised.connectionString, 'select 1 as n')).toEqual([{ n: 1 }])
  })
})

describe.runIf(isRoot && isLinux)('started by root', () => {
  test('the server and its guard run as another account', async () => {
    const server = await start()
    expect((await stat(`/proc/${server.pid}`)).uid).not.toBe(0)
    expect((await stat(`/proc/${await parentOf(server.pid)}`)).uid).not.toBe(0)
    expect((await stat(join(dataDir, 'postgres'))).uid).not.toBe(0)
  })

  test('works below a folder that only root may enter', async () => {
    await chmod(folder, 0o700)
    const first = await start()
    await query(
      first.connectionString,
      'drop table if exists kept; create table kept as select generate_series(1, 1000) as n',
    )
    await query(first.connectionString, 'checkpoint')
    process.kill(first.pid, 'SIGKILL')
    await first.exited
    const second = await start()
    expect(await query(second.connectionString, 'select count(*)::int from kept')).toEqual([{ count: 1000 }])
  })
})

describe('a start that fails', () => {
  test('shows the last lines of the log when the settings are wrong', async () => {
    await appendFile(join(dataDir, 'postgres', 'local.conf'), "shared_buffers = 'a lot'\n")
    await expect(startEmbeddedPostgres({ dataDir })).rejects.toMatchObject({
      code: 'embedded_unavailable',
      message: expect.stringContaining('invalid value for parameter "shared_buffers"'),
    })
    await writeFile(join(dataDir, 'postgres', 'local.conf'), '')
    await start()
  })

  test('says so when the wanted port is taken', async () => {
    const other = createServer()
    other.listen(0, '127.0.0.1')
    await once(other, 'listening')
    cleanUps.push(async () => other.close())
    const { port } = other.address() as { port: number }
    await expect(startEmbeddedPostgres({ dataDir, port })).rejects.toMatchObject({
      code: 'embedded_unavailable',
      message: expect.stringContaining('Its port is in use'),
    })
  })

  test('takes another port than the last one when that is taken', async () => {
    const first = await start()
    await first.stop()
    const other = createServer()
    other.listen(first.port, '127.0.0.1')
    await once(other, 'listening')
    cleanUps.push(async () => other.close())
    expect((await start()).port).not.toBe(first.port)
  })
})
