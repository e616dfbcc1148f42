import type { Pool } from 'pg'
import { Client } from 'pg'
import {
  type Dataset,
  type DatasetSize,
  defineOperatorDataset,
  fillOperatorDataset,
} from '../../../bench/workload/operator-dataset.ts'
import { createPool } from '../../../src/postgres/pool.ts'
import { Holdfast } from '../../../src/sdk/holdfast.ts'
import { Database } from '../../../src/storage/database.ts'
import { createTestDatabase, type TestDatabase } from '../../support/test-database.ts'
import type { PlanNode, RecordedPlan } from './judge-plans.ts'

/**
 * One connection whose statements are planned once, while the tables are empty, and whose every plan is seen, those inside functions too.
 * The tables are never analysed: autovacuum is off for them.
 */
export class PlanLab {
  readonly #testDatabase: TestDatabase
  readonly #pool: Pool
  readonly #plans: RecordedPlan[] = []
  readonly database: Database

  private constructor(testDatabase: TestDatabase, pool: Pool) {
    this.#testDatabase = testDatabase
    this.#pool = pool
    this.database = new Database({ pool, preparesStatements: true, deadlineMs: 60_000 })
  }

  static async open(): Promise<PlanLab> {
    const testDatabase = await createTestDatabase()
    const holdfast = new Holdfast({ databaseUrl: testDatabase.url })
    await holdfast.endpoints.create({ name: 'template', transport: 'function', config: {} })
    await holdfast.stop()
    // As the connections of a node and of the API.
    const pool = createPool({
      connectionString: testDatabase.url,
      max: 1,
      applicationName: 'plan-lab',
      connectTimeoutMs: 10_000,
      plansOnce: true,
    })
    const lab = new PlanLab(testDatabase, pool)
    pool.on('connect', (client) => {
      client.on('notice', ({ message }) => lab.#note(message ?? ''))
      void client.query(`
        load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_nested_statements = on;
        set auto_explain.log_analyze = on; set auto_explain.log_buffers = on; set auto_explain.log_timing = off; set auto_explain.log_format = json;
        set client_min_messages = log`)
    })
    return lab
  }

  /** What people define is there from the beginning; everything else comes with `fill`. */
  async define(size: DatasetSize): Promise<Dataset> {
    return this.#withClients(([first]) => defineOperatorDataset(first as Client, size))
  }

  /** Fills the tables from other connections, row by row: nothing of that tells the planner anything, or makes this connection plan anew. */
  async fill(dataset: Dataset): Promise<void> {
    await this.#withClients((clients) => fillOperatorDataset(clients, dataset))
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

  /** What `work` returned, and the plan of every statement that it ran. */
  async watch<Result>(
    work: (database: Database) => Promise<Result>,
  ): Promise<{ result: Result; plans: readonly RecordedPlan[] }> {
    this.#plans.length = 0
    const result = await work(this.database)
    return { result, plans: [...this.#plans] }
  }

  /** One statement as it is, prepared under a name of its own. */
  query(text: string, values: readonly unknown[] = []): Promise<object[]> {
    return this.database.query({ name: `lab_${text.length}_${text.slice(-20)}`, text }, values)
  }

  async close(): Promise<void> {
    await this.#pool.end()
    await this.#testDatabase.drop()
  }

  #note(message: string): void {
    const start = message.indexOf('plan:\n')
    if (start < 0) return
    const { 'Query Text': text, Plan: plan } = JSON.parse(message.slice(start + 6)) as {
      'Query Text': string
      Plan: PlanNode
    }
    this.#plans.push({ text, plan })
  }
}
