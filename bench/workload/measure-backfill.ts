import { type ChildProcess, fork, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Client } from 'pg'
import { Holdfast } from '../../dist/index.js'
import type { Sample, SampleContext } from '../harness/row.ts'
import { processorTimes, serverProcessorTime } from './processor-time.ts'
import { makeTrackingEvent } from './tracking-events.ts'

interface Report {
  readonly port: number
  readonly stored: number
  readonly cpuMs: number
}

const partPath = fileURLToPath(new URL('./learning-process.mjs', import.meta.url))
const cliPath = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url))
const POLL_MS = 50
const STATEMENTS_PER_BATCH = 100

/**
 * Events a second from the start of `holdfast learning import` to the last statement in the store: a log on disk, the command line writing directly
 * to the database, a node, and a record store, each in its own process. The start of the command is included.
 */
export async function measureBackfill(context: SampleContext): Promise<Sample> {
  const { databaseUrl } = context
  const events = context.messages
  const folder = await mkdtemp(join(tmpdir(), 'holdfast-backfill-'))
  const encryptionKey = randomBytes(32).toString('base64')
  const log = join(folder, 'tracking.log')
  await writeFile(
    log,
    Array.from({ length: events }, (_, n) => JSON.stringify(makeTrackingEvent(n))).join('\n'),
  )
  const store = fork(partPath, ['store'], { execArgv: [] })
  const { port } = await report(store)
  await configure(databaseUrl, encryptionKey, `http://127.0.0.1:${port}/statements`)
  const node = fork(partPath, ['node', databaseUrl, encryptionKey], { execArgv: [] })
  const watcher = new Client({ connectionString: databaseUrl })
  try {
    await report(node)
    await watcher.connect()
    const { rows } = await watcher.query<{ pid: number }>('select pg_backend_pid() as pid')
    const session = rows[0]?.pid ?? 0
    const before = {
      store: await ask(store),
      node: await ask(node),
      databaseMs: serverProcessorTime(session),
    }
    const startedMs = performance.now()
    const command = await runImport(log, folder, databaseUrl)
    const importMs = performance.now() - startedMs
    let now = await ask(store)
    for (; now.stored < events; now = await ask(store)) await wait(POLL_MS)
    const elapsedMs = performance.now() - startedMs
    return {
      value: (events / elapsedMs) * 1000,
      details: {
        events,
        importMs,
        elapsedMs,
        commandCpuMicrosPerEvent: (command.cpuMs * 1000) / events,
        nodeCpuMicrosPerEvent: (((await ask(node)).cpuMs - before.node.cpuMs) * 1000) / events,
        databaseCpuMicrosPerEvent: ((serverProcessorTime(session) - before.databaseMs) * 1000) / events,
        storeCpuMicrosPerEvent: ((now.cpuMs - before.store.cpuMs) * 1000) / events,
      },
      settings: { batch: STATEMENTS_PER_BATCH },
    }
  } finally {
    await watcher.end()
    node.disconnect()
    store.disconnect()
    await rm(folder, { recursive: true, force: true })
  }
}

async function configure(databaseUrl: string, encryptionKey: string, url: string): Promise<void> {
  const holdfast = new Holdfast({ databaseUrl, encryptionKey, allowNetworks: ['127.0.0.0/8'] })
  try {
    await holdfast.migrate()
    await holdfast.endpoints.create({
      name: 'lrs',
      preset: 'record-store',
      config: { url },
      batch: { maxMessages: STATEMENTS_PER_BATCH, maxWaitMs: 200 },
      limits: { concurrency: 8, maxPending: 1_000_000 },
    })
    const actor = { from: 'hash', key: 'a key that is long enough' } as const
    await holdfast.routes.create({
      name: 'lrs',
      eventType: '**',
      endpoint: 'lrs',
      transform: { type: 'xapi', platformUrl: 'https://learn.example', actor },
    })
  } finally {
    await holdfast.stop()
  }
}

/** Runs the command, and reads its CPU time while it runs. */
async function runImport(log: string, folder: string, databaseUrl: string): Promise<{ cpuMs: number }> {
  const { HOLDFAST_URL: _, ...environment } = process.env
  const command = spawn(process.execPath, [cliPath, 'learning', 'import', log, '--json'], {
    cwd: folder,
    env: { ...environment, HOLDFAST_DATABASE_URL: databaseUrl, HOLDFAST_DATA_DIR: folder },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  const processId = command.pid ?? 0
  let cpuMs = 0
  const watch = setInterval(() => {
    cpuMs = processorTimes([processId]).get(processId) ?? cpuMs
  }, POLL_MS)
  const [code] = (await once(command, 'exit')) as [number]
  clearInterval(watch)
  if (code !== 0) throw new Error(`the import ended with exit code ${code}`)
  return { cpuMs }
}

async function report(child: ChildProcess): Promise<Report> {
  const [given] = (await once(child, 'message')) as [Report]
  return given
}

async function ask(child: ChildProcess): Promise<Report> {
  const answer = report(child)
  child.send('report')
  return answer
}
