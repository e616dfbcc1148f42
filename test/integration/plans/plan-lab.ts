import type { Pool } from 'pg'
import { Client } from 'pg'
import {
  type Dataset,
  type DatasetSize,
  defineOperatorDataset,
  fillOperatorDataset,
} from '../../../bench/workload/operator-dataset.ts'
import { avoidWholeScans, createPool } from '../../../src/postgres/pool.ts'
import { Holdfast } from '../../../src/sdk/holdfast.ts'
import { Database } from '../../../src/storage/database.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import type { LeadingColumns, PlanNode, RecordedPlan } from './judge-plans.ts'
import { defineKeyedQueues, fillKeyedRuns } from './keyed-runs.ts'
import { fillSources } from './source-entries.ts'

/** As a node's connections; as those that an API's statements are prepared on; or as an application's own, on which nobody sets anything. */
export type ConnectionKind = 'node' | 'api' | 'application'

const recording = `
  load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on; set auto_explain.log_analyze = on;
  set auto_explain.log_buffers = on; set auto_explain.log_timing = off; set auto_explain.log_settings = on; set auto_explain.log_format = json;
  set client_min_messages = log`

/**
 * Two connections whose statements are planned once, while the tables are empty, and whose every plan is seen, those inside functions too.
 * The tables are never analysed: autovacuum is off for them.
 */
export class PlanLab {
  readonly #testDatabase: TestDatabase
  readonly #pools: Readonly<Record<ConnectionKind, Pool>>
  readonly #databases: Readonly<Record<ConnectionKind, Database>>
  readonly #plans: RecordedPlan[] = []

  private constructor(testDatabase: TestDatabase) {
    this.#testDatabase = testDatabase
    this.#pools = { node: this.#open('node'), api: this.#open('api'), application: this.#open('application') }
    const databaseOf = (pool: Pool) => new Database({ pool, preparesStatements: true, deadlineMs: 60_000 })
    const { node, api, application } = this.#pools
    this.#databases = { node: databaseOf(node), api: databaseOf(api), application: databaseOf(application) }
  }

  static async open(): Promise<PlanLab> {
    const testDatabase = await createTestDatabase()
    const holdfast = new Holdfast({ databaseUrl: testDatabase.url })
    await holdfast.endpoints.create({ name: 'template', transport: 'function', config: {} })
    await holdfast.stop()
    const lab = new PlanLab(testDatabase)
    await avoidWholeScans(lab.#pools.api)
    return lab
  }

  #open(kind: ConnectionKind): Pool {
    const pool = createPool({
      connectionString: this.#testDatabase.url,
      max: 1,
      applicationName: `plan-lab-${kind}`,
      connectTimeoutMs: 10_000,
      plansOnce: kind === 'node',
    })
    pool.on('connect', (client) => {
      client.on('notice', ({ message }) => this.#note(message ?? ''))
      // An application's has the server's own defaults, but for the plan, which it would keep from the sixth time on.
      const defaults = {
        node: '',
        api: 'set plan_cache_mode = force_generic_plan;',
        application:
          'set jit = on; set search_path = "$user", public; set plan_cache_mode = force_generic_plan;',
      }
      void client.query(`${defaults[kind]} ${recording}`)
    })
    return pool
  }

  /** What people define is there from the beginning; everything else comes with `fill`. */
  async define(size: DatasetSize): Promise<Dataset> {
    return this.#withClients(async ([first]) => {
      await defineKeyedQueues(first as Client)
      const dataset = await defineOperatorDataset(first as Client, size)
      await vacuumEmptyTables(first as Client)
      return dataset
    })
  }

  /** Fills the tables from other connections, row by row: nothing of that tells the planner anything, or makes this connection plan anew. */
  async fill(dataset: Dataset): Promise<void> {
    await this.#withClients(async (clients) => {
      await fillOperatorDataset(clients, dataset)
      await fillKeyedRuns(clients[0] as Client, dataset.events)
      await fillSources(clients[0] as Client, dataset.events)
    })
  }

  /** Of the indexes that begin with a column and not with an expression. */
  async leadingColumns(): Promise<LeadingColumns> {
    return this.#withClients(async ([client]) => {
      const { rows } = await (client as Client).query<{ index: string; column: string }>(`
        select index.relname as index, attribute.attname as column
        from pg_index as described join pg_class as index on index.oid = described.indexrelid
        join pg_attribute as attribute on attribute.attrelid = described.indrelid and attribute.attnum = described.indkey[0]
        where index.relnamespace = 'holdfast_internal'::regnamespace`)
      return new Map(rows.map(({ index, column }) => [index, column]))
    })
  }

  async #withClients<Result>(work: (clients: readonly Client[]) => Promise<Result>): Promise<Result> {
    const clients = [1, 2].map(() => new Client({ connectionString: this.#testDatabase.url }))
    try {
      for (const client of clients) await client.connect()
      return await work(clients)
    } finally {
      for (const client of clients) await client.end()
    }
  }

  database(kind: ConnectionKind): Database {
    return this.#databases[kind]
  }

  /** What `work` returned, and the plan of every statement that it ran. */
  async watch<Result>(
    kind: ConnectionKind,
    work: (database: Database) => Promise<Result>,
  ): Promise<{ result: Result; plans: readonly RecordedPlan[] }> {
    this.#plans.length = 0
    const result = await work(this.database(kind))
    return { result, plans: [...this.#plans] }
  }

  async close(): Promise<void> {
    for (const pool of Object.values(this.#pools)) await pool.end()
    await this.#testDatabase.drop()
  }

  #note(message: string): void {
    const start = message.indexOf('plan:\n')
    if (start < 0) return
    const {
      'Query Text': text,
      Plan: plan,
      Settings: settings = {},
    } = JSON.parse(message.slice(start + 6)) as {
      'Query Text': string
      Plan: PlanNode
      Settings?: Record<string, string>
    }
    this.#plans.push({ text, plan, settings })
  }
}

/**
 * As after an idle night, or a nightly `vacuumdb` of a new installation: a table that vacuum found empty seems to have no pages, and the planner
 * begins a join with it, or reads it whole, rather than look something up in it.
 */
async function vacuumEmptyTables(client: Client): Promise<void> {
  const { rows } = await client.query<{ name: string }>(`
    select oid::regclass::text as name from pg_class
    where relnamespace = 'holdfast_internal'::regnamespace and relkind = 'r' and pg_relation_size(oid) = 0`)
  for (const { name } of rows) await client.query(`vacuum ${name}`)
}
