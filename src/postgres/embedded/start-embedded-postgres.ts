import { execFile } from 'node:child_process'
import { chown, open, readFile, stat, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { Client, escapeIdentifier } from 'pg'
import { HoldfastError } from '../../core/errors.ts'
import { queryWithDeadline } from '../deadline.ts'
import type { PostgresLogger } from '../logger.ts'
import {
  type ClusterFiles,
  claimFolder,
  clusterFiles,
  clusterName,
  ensureCluster,
  pathFor,
  startFailure,
  writePrivateFile,
} from './cluster.ts'
import { ensureDataDir } from './data-dir.ts'
import { lockDataDir } from './data-dir-lock.ts'
import { findFreePort } from './free-port.ts'
import { type GuardedServer, serverEnvironment, spawnGuarded } from './guard.ts'
import { type PlatformBinaries, preparePlatformBinaries } from './platform-binaries.ts'
import { clearLeftovers, readPostmasterFile } from './postmaster-file.ts'
import { boundLog, readLogTail, watchLog } from './server-log.ts'
import { renderServerSettings } from './server-settings.ts'
import { findServerUser, type ServerUser } from './server-user.ts'

const run = promisify(execFile)

export interface EmbeddedPostgresOptions {
  /** Contains everything: the cluster, its password, its log, our lock. Created with mode 0700 if missing. */
  readonly dataDir: string
  readonly logger?: PostgresLogger
  /** Default: the port of the last start if it is free, otherwise any free one. */
  readonly port?: number
  /** Settings of postgresql.conf that override ours. */
  readonly settings?: Readonly<Record<string, string>>
  /** The server must accept connections within this time; crash recovery after a busy day takes a while. */
  readonly startDeadlineMs?: number
  /** The time for a fast shutdown before an immediate one, which needs recovery at the next start. */
  readonly fastShutdownSeconds?: number
  /** Called once no other process uses the data dir, before anything is created in it or started. If it throws, the start is aborted. */
  beforeStart?(): Promise<void>
}

export interface EmbeddedPostgres {
  readonly connectionString: string
  readonly port: number
  readonly version: string
  /** The server's process id. */
  readonly pid: number
  /** Shuts the server down; safe to call twice. */
  stop(): Promise<void>
  /** Resolves when the server has ended, stopped by us or not. */
  readonly exited: Promise<{ readonly exitCode: number | null; readonly wasStopped: boolean }>
}

const defaultStartDeadlineMs = 120_000
const defaultFastShutdownSeconds = 15
const readyPollMs = 15
const connectDeadlineMs = 10_000
const maxPortTries = 5
const shownLogLines = 12

/**
 * Starts the embedded PostgreSQL on a data dir, which is created the first time. The server ends on `stop()`,
 * when this process exits, and when this process is killed.
 */
export async function startEmbeddedPostgres(options: EmbeddedPostgresOptions): Promise<EmbeddedPostgres> {
  assertPlatform()
  const dataDir = resolve(options.dataDir)
  await ensureDataDir(dataDir)
  const user = await findServerUser(dataDir)
  await claimFolder(dataDir, user)
  const files = clusterFiles(dataDir)
  const lock = await lockDataDir(dataDir)
  try {
    await options.beforeStart?.()
    const binaries = await preparePlatformBinaries({ user, copyDirs: [dataDir] })
    await clearLeftovers(files.pgData)
    const { password, isNew } = await ensureCluster(files, binaries, user)
    if (isNew) options.logger?.info({ dataDir }, 'created the embedded PostgreSQL')
    await boundLog(files.logFile)
    return await startOnFreePort({ options, files, binaries, user, password, release: () => lock.release() })
  } catch (error) {
    await lock.release()
    throw error
  }
}

/** The guard is a Unix shell; there is no equivalent on Windows yet. */
function assertPlatform(): void {
  if (process.platform !== 'win32') return
  throw new HoldfastError(
    'embedded_unavailable',
    'The embedded PostgreSQL runs on Linux and macOS. On Windows, set HOLDFAST_DATABASE_URL to a PostgreSQL server, ' +
      '15 or newer, or run Holdfast in WSL.',
  )
}

interface StartContext {
  readonly options: EmbeddedPostgresOptions
  readonly files: ClusterFiles
  readonly binaries: PlatformBinaries
  readonly user: ServerUser | null
  readonly password: string
  release(): Promise<void>
}

async function startOnFreePort(context: StartContext): Promise<EmbeddedPostgres> {
  const { options, files } = context
  for (let tries = 1; ; tries++) {
    const port = options.port ?? (await findFreePort(tries === 1 ? await readLastPort(files) : null))
    try {
      return await startOnPort(context, port)
    } catch (error) {
      // Another process may have taken the port between our check and the server's start.
      const isPortTaken = error instanceof Error && error.message.includes('Address already in use')
      if (!isPortTaken || options.port !== undefined || tries === maxPortTries) throw error
    }
  }
}

async function readLastPort(files: ClusterFiles): Promise<number | null> {
  const port = Number(await readFile(files.portFile, 'utf8').catch(() => ''))
  return Number.isInteger(port) && port > 0 ? port : null
}

async function startOnPort(context: StartContext, port: number): Promise<EmbeddedPostgres> {
  const { options, files } = context
  await writeSettings(context, port)
  const logStart = (await stat(files.logFile).catch(() => null))?.size ?? 0
  const server = await spawnServer(context)
  const pid = await waitUntilReady(context, server, logStart).catch(async (error: unknown) => {
    server.release()
    await server.exitCode
    throw error
  })
  const unwatchLog = watchLog(files.logFile)
  let wasStopped = false
  const exited = server.exitCode.then(async (exitCode) => {
    unwatchLog()
    // If the guard itself was killed, its watching process still has the pipe.
    server.release()
    if (!wasStopped) {
      const output = await readLogTail(files.logFile, logStart, shownLogLines)
      options.logger?.warn({ exitCode, output }, 'the embedded PostgreSQL ended unexpectedly')
    }
    await context.release()
    return { exitCode, wasStopped }
  })
  const stop = async () => {
    wasStopped = true
    server.release()
    await exited
  }
  try {
    const version = await openDatabase(context, port)
    await writePrivateFile(files.portFile, String(port))
    const connectionString = connectionStringFor(context.password, port, clusterName)
    return { connectionString, port, version, pid, stop, exited }
  } catch (error) {
    await stop()
    throw error
  }
}

async function writeSettings(context: StartContext, port: number): Promise<void> {
  const { files, user, options, binaries } = context
  const path = join(files.pgData, 'holdfast.conf')
  const supportsLz4 = await acceptsSetting(binaries, 'wal_compression=lz4', user)
  const settings = options.settings === undefined ? {} : { settings: options.settings }
  await writeFile(path, renderServerSettings({ port, supportsLz4, ...settings }), { mode: 0o600 })
  if (user !== null) await chown(path, user.uid, user.gid)
}

/** The compression methods compiled in differ between the platforms' packages, and an unknown one aborts the start. */
async function acceptsSetting(
  binaries: PlatformBinaries,
  setting: string,
  user: ServerUser | null,
): Promise<boolean> {
  // Without a data dir the program always fails, but it parses its settings first.
  const output = await run(binaries.postgres, ['-C', 'port', '-c', setting], {
    cwd: '/',
    env: serverEnvironment(),
    ...user,
  }).catch((error: { stderr?: string }) => ({ stderr: error.stderr ?? 'invalid value' }))
  return !output.stderr.includes('invalid value')
}

async function spawnServer(context: StartContext): Promise<GuardedServer> {
  const { options, files, binaries, user } = context
  const log = await open(files.logFile, 'a', 0o600)
  try {
    return spawnGuarded({
      command: binaries.postgres,
      args: ['-D', await pathFor(files.pgData, user)],
      cwd: files.pgData,
      user,
      logFd: log.fd,
      fastShutdownSeconds: options.fastShutdownSeconds ?? defaultFastShutdownSeconds,
    })
  } finally {
    await log.close()
  }
}

async function waitUntilReady(
  context: StartContext,
  server: GuardedServer,
  logStart: number,
): Promise<number> {
  const { files, options } = context
  const deadlineMs = options.startDeadlineMs ?? defaultStartDeadlineMs
  const deadline = performance.now() + deadlineMs
  const pid = await server.pid
  while (!server.hasEnded() && performance.now() < deadline) {
    const state = await readPostmasterFile(files.pgData)
    if (pid !== null && state?.pid === pid && state.isReady) return pid
    await delay(readyPollMs)
  }
  const what = server.hasEnded()
    ? `The embedded PostgreSQL in ${files.dataDir} ended while starting`
    : `The embedded PostgreSQL in ${files.dataDir} wasn't ready within ${deadlineMs} ms`
  throw startFailure(what, await readLogTail(files.logFile, logStart, shownLogLines))
}

/** Checks that the server accepts our password, and creates the database the first time. */
async function openDatabase(context: StartContext, port: number): Promise<string> {
  const client = new Client({
    connectionString: connectionStringFor(context.password, port, 'postgres'),
    connectionTimeoutMillis: connectDeadlineMs,
  })
  client.on('error', () => {})
  await client.connect()
  const { rows } = await queryWithDeadline<{ version: string; exists: boolean }>(
    client,
    {
      text: `select current_setting('server_version') as version,
                    exists (select from pg_database where datname = $1) as exists`,
      values: [clusterName],
    },
    connectDeadlineMs,
  )
  if (rows[0]?.exists !== true) {
    await queryWithDeadline(client, `create database ${escapeIdentifier(clusterName)}`, connectDeadlineMs)
  }
  await client.end()
  return rows[0]?.version ?? 'unknown'
}

function connectionStringFor(password: string, port: number, database: string): string {
  return `postgres://${clusterName}:${encodeURIComponent(password)}@127.0.0.1:${port}/${database}`
}
