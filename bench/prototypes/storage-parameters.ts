/**
 * What storage parameters of the hot tables change: docs/decisions/0035-storage-parameters.md. Not a part of the product.
 *
 *   npx tsx bench/prototypes/storage-parameters.ts postgres://postgres@127.0.0.1:5432/postgres [messages]
 *
 * Each arm gets its own database: deliveries of which every tenth is retried, then job runs of four kinds of which every tenth is retried, on an
 * otherwise idle server. Prints for each hot table the updates and how many of them were HOT, the dead rows at the end, its size, and the number of
 * autovacuum runs; and the CPU time of the server per message (Linux, a server on this machine that does nothing else).
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { Client } from 'pg'
import { defineJob, Holdfast, JobWorker } from '../../dist/index.js'
import { serverProcessorTime } from '../workload/processor-time.ts'

const [serverUrl = 'postgres://postgres@127.0.0.1:5432/postgres', size = '60000', only] =
  process.argv.slice(2)
const messages = Number(size)
const batchRows = 500
const hot = [
  'deliveries',
  'runs',
  'run_claims',
  'run_bundles',
  'queue_cursors',
  'dead_letters',
  'idempotency_keys',
]
const byCount = (rows: number) =>
  `autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = ${rows}, autovacuum_analyze_scale_factor = 0, autovacuum_analyze_threshold = ${rows}`
const everyHot = (parameters: string) =>
  hot.map((table) => `alter table holdfast_internal.${table} set (${parameters})`).join(';')
const onRuns = (fillfactor: number) => `alter table holdfast_internal.runs set (fillfactor = ${fillfactor})`

const arms: Readonly<Record<string, string>> = {
  'as created': '',
  'server defaults': hot
    .map(
      (table) =>
        `alter table holdfast_internal.${table} reset (autovacuum_vacuum_scale_factor, autovacuum_vacuum_threshold, autovacuum_vacuum_cost_delay, autovacuum_analyze_scale_factor, autovacuum_analyze_threshold)`,
    )
    .join(';'),
  'never vacuumed': everyHot('autovacuum_enabled = off'),
  'every 1,000': everyHot(byCount(1000)),
  'every 10,000': everyHot(byCount(10_000)),
  'every 50,000': everyHot(byCount(50_000)),
  'runs 90 %': onRuns(90),
  'runs 70 %': onRuns(70),
  'runs 50 %': onRuns(50),
}

const keyOf = (sequence: number) => `key-${sequence % 500}`
const kinds: readonly ((sequence: number) => Record<string, unknown>)[] = [
  () => ({}),
  (sequence) => ({ priority: sequence % 4 }),
  (sequence) => ({ orderingKey: keyOf(sequence) }),
  (sequence) => ({ concurrencyKey: keyOf(sequence) }),
]

const server = new Client({ connectionString: serverUrl })
await server.connect()
for (const [arm, change] of Object.entries(arms)) {
  if (only === undefined || only === arm) await measure(arm, change)
}
await server.end()

async function measure(arm: string, change: string): Promise<void> {
  const name = `storage_parameters_${process.pid}`
  await server.query(`drop database if exists ${name} with (force)`)
  await server.query(`create database ${name}`)
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  const client = new Client({ connectionString: url.href })
  await client.connect()
  try {
    await new Holdfast({ databaseUrl: url.href }).migrate()
    await client.query(change)
    const pid = await client.query<{ pid: number }>('select pg_backend_pid() as pid')
    // The time of sessions that have just ended counts once the server has noticed their end.
    const cost = async () => {
      await sleep(500)
      return serverProcessorTime(pid.rows[0]?.pid ?? 0)
    }
    const before = await cost()
    await deliver(url.href)
    const between = await cost()
    await runJobs(url.href)
    const after = await cost()
    const perMessage = (ms: number) => `${Math.round((ms / messages) * 1000)} µs`
    const line = `${arm}: ${perMessage(between - before)} a delivery, ${perMessage(after - between)} a run`
    process.stdout.write(`\n${line}\n${await counts(client)}\n`)
  } finally {
    await client.end()
    await server.query(`drop database ${name} with (force)`)
  }
}

async function deliver(databaseUrl: string): Promise<void> {
  const tried = new Set<number>()
  let done = 0
  const holdfast = new Holdfast({
    databaseUrl,
    handlers: {
      sink: ({ payload }) => {
        const { n } = payload as { n: number }
        if (n % 10 === 0 && !tried.has(n)) {
          tried.add(n)
          throw new Error('the first time')
        }
        done++
      },
    },
  })
  const retry = { baseDelayMs: 100, maxDelayMs: 100, maxRetries: 5 }
  await holdfast.endpoints.create({
    name: 'sink',
    transport: 'function',
    retry,
    circuit: { threshold: 1000 },
    limits: { maxPending: 10_000_000 },
  })
  await holdfast.start()
  for (let first = 0; first < messages; first += batchRows) {
    await holdfast.sendBatch(
      'sink',
      batchFrom(first, (n) => ({ payload: { n } })),
    )
  }
  await until(() => done >= messages)
  await holdfast.stop()
}

async function runJobs(databaseUrl: string): Promise<void> {
  const tried = new Set<number>()
  let done = 0
  const job = defineJob({
    name: 'work',
    retry: { baseDelayMs: 100, maxDelayMs: 100, maxRetries: 5 },
    run: (input) => {
      const { n } = input as { n: number }
      if (n % 10 === 0 && !tried.has(n)) {
        tried.add(n)
        throw new Error('the first time')
      }
      done++
    },
  })
  const journalFolder = mkdtempSync(join(tmpdir(), 'storage-parameters-'))
  const holdfast = new Holdfast({ databaseUrl })
  await holdfast.jobs.declare(job)
  const worker = new JobWorker({ databaseUrl, jobs: [job], concurrency: 64, journalFolder })
  await worker.start()
  for (let first = 0; first < messages; first += batchRows) {
    const of = kinds[(first / batchRows) % kinds.length] ?? (() => ({}))
    await holdfast.enqueueBatch(
      job,
      batchFrom(first, (n) => ({ input: { n }, ...of(n) })),
    )
  }
  await until(() => done >= messages)
  await worker.stop()
  await holdfast.stop()
  rmSync(journalFolder, { recursive: true, force: true })
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await sleep(20)
}

function batchFrom<Item>(first: number, make: (n: number) => Item): Item[] {
  return Array.from({ length: Math.min(batchRows, messages - first) }, (_, n) => make(first + n))
}

async function counts(client: Client): Promise<string> {
  // Sessions report their statistics when they have been idle for a while, or end.
  await sleep(1500)
  const { rows } = await client.query<Record<string, string>>(
    `select relname as name, n_tup_ins::int as inserted, n_tup_upd::int as updated, n_tup_hot_upd::int as hot, n_dead_tup::int as dead,
            pg_size_pretty(pg_relation_size(relid)) as size, pg_size_pretty(pg_indexes_size(relid)) as indexes,
            autovacuum_count::int as vacuums, autoanalyze_count::int as analyses
     from pg_stat_user_tables
     where schemaname = 'holdfast_internal' and (relname = any ($1) or n_tup_upd > 100) order by n_tup_ins + n_tup_upd desc`,
    [hot],
  )
  return rows.map((row) => `  ${JSON.stringify(row)}`).join('\n')
}
