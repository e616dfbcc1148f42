import { Client } from 'pg'
import { processorTimes, serverProcessorTime } from '../workload/processor-time.ts'
import type { Measured, StatementCost } from './curve.ts'
import { type GrowthNode, settledBy } from './growth-node.ts'
import type { Publisher } from './publisher.ts'

interface Reading {
  readonly atMs: number
  readonly settled: number
  readonly nodeMs: number
  readonly databaseMs: number
  readonly publishingSessionsMs: number
  readonly publisherMs: number
  readonly published: number
  readonly walBytes: number
}

const SHOWN_STATEMENTS = 12
const SHOWN_CHARACTERS = 160

/**
 * Reads the CPU time of nodes, PostgreSQL and the publisher (this process), and computes costs per delivery from two readings. PostgreSQL means all
 * processes of the server; sessions that publish are counted separately from the rest, which includes the server's background processes.
 */
export class Meter {
  readonly #client: Client
  readonly #nodes: readonly GrowthNode[]
  readonly #publisher: Publisher
  #session = 0
  #hasStatements = false
  #first: Reading | null = null

  constructor(databaseUrl: string, nodes: readonly GrowthNode[], publisher: Publisher) {
    this.#client = new Client({ connectionString: databaseUrl })
    this.#client.on('error', () => {})
    this.#nodes = nodes
    this.#publisher = publisher
  }

  async open(): Promise<void> {
    await this.#client.connect()
    this.#session = await this.#number('select pg_backend_pid() as value')
    try {
      await this.#client.query('create extension if not exists pg_stat_statements')
      await this.#client.query('select pg_stat_statements_reset()')
      this.#hasStatements = true
    } catch {
      // A server without the extension is measured without statements.
    }
  }

  async start(): Promise<void> {
    if (this.#hasStatements) await this.#client.query('select pg_stat_statements_reset()')
    this.#first = await this.#read()
  }

  /** The usage since `start`. */
  async stop(): Promise<Measured> {
    const first = this.#first
    if (first === null) throw new Error('the meter was stopped before it was started')
    const last = await this.#read()
    const deliveries = last.settled - first.settled
    if (deliveries === 0) throw new Error('nothing was delivered while it was measured')
    const published = last.published - first.published
    const since = (name: keyof Reading) => last[name] - first[name]
    const seconds = since('atMs') / 1000
    const node = (since('nodeMs') * 1000) / deliveries
    const delivering = ((since('databaseMs') - since('publishingSessionsMs')) * 1000) / deliveries
    return {
      values: {
        deliveries,
        seconds,
        perSecond: deliveries / seconds,
        nodeMicros: node,
        deliveringMicros: delivering,
        costMicros: node + delivering,
        ...(published > 0 && {
          published,
          publishingMicros: (since('publishingSessionsMs') * 1000) / published,
          publisherMicros: (since('publisherMs') * 1000) / published,
        }),
        walBytes: since('walBytes') / deliveries,
        connections: await this.#number(
          `select count(*)::int as value from pg_stat_activity
           where datname = current_database() and backend_type = 'client backend' and pid <> pg_backend_pid()`,
        ),
      },
      statements: await this.#statements(deliveries),
    }
  }

  async close(): Promise<void> {
    await this.#client.end()
  }

  async #read(): Promise<Reading> {
    const walBytes = await this.#number(`select (pg_current_wal_lsn() - '0/0')::float8 as value`)
    const { user, system } = process.cpuUsage()
    return {
      atMs: performance.now(),
      settled: settledBy(this.#nodes),
      nodeMs: sum(processorTimes(this.#nodes.map(({ processId }) => processId))),
      databaseMs: serverProcessorTime(this.#session),
      publishingSessionsMs: sum(processorTimes(this.#publisher.sessions)),
      publisherMs: (user + system) / 1000,
      published: this.#publisher.published,
      walBytes,
    }
  }

  async #statements(deliveries: number): Promise<StatementCost[]> {
    if (!this.#hasStatements) return []
    const { rows } = await this.#client.query<{ query: string; calls: number; ms: number }>(
      `select query, calls::float8 as calls, total_exec_time as ms from pg_stat_statements
       where dbid = (select oid from pg_database where datname = current_database())
       order by total_exec_time desc limit $1`,
      [SHOWN_STATEMENTS],
    )
    return rows.map(({ query, calls, ms }) => ({
      text: query.replaceAll(/\s+/g, ' ').trim().slice(0, SHOWN_CHARACTERS),
      calls,
      microsPerDelivery: (ms * 1000) / deliveries,
    }))
  }

  async #number(text: string): Promise<number> {
    const { rows } = await this.#client.query<{ value: number }>(text)
    return rows[0]?.value ?? 0
  }
}

function sum(times: ReadonlyMap<number, number>): number {
  let total = 0
  for (const time of times.values()) total += time
  return total
}
