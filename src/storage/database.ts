import type { Pool, PoolClient, QueryArrayConfig } from 'pg'
import { queryWithDeadline } from '../postgres/deadline.ts'
import { avoidWholeScans } from '../postgres/pool.ts'
import type { Queryable } from './queryable.ts'

export interface DatabaseOptions {
  readonly pool: Pool
  /** False behind a transaction-pooling proxy, where a statement prepared on one connection is unknown to the next. */
  readonly preparesStatements: boolean
  /** After this time a query's socket is destroyed: a hung server must not block this process. */
  readonly deadlineMs: number
}

/** One named statement: the server plans it once per connection. */
export interface Statement {
  readonly name: string
  readonly text: string
}

const senderStatements = new Map<string, string>()

/** The texts are constants, and few. */
function statementNameOf(text: string): string {
  let name = senderStatements.get(text)
  if (name === undefined) {
    name = `sender_${senderStatements.size + 1}`
    senderStatements.set(text, name)
  }
  return name
}

interface Transaction {
  readonly client: PoolClient
  readonly afterCommit: (() => void)[]
}

/** Executes the statements of the storage functions. */
export class Database {
  readonly pool: Pool
  #preparesStatements: boolean
  readonly #deadlineMs: number
  readonly #transaction: Transaction | null

  constructor(options: DatabaseOptions, transaction: Transaction | null = null) {
    this.pool = options.pool
    this.#preparesStatements = options.preparesStatements
    this.#deadlineMs = options.deadlineMs
    this.#transaction = transaction
  }

  /** Rows as objects. */
  async query<Row extends object>(statement: Statement, values: readonly unknown[]): Promise<Row[]> {
    const result = await queryWithDeadline(this.#target, this.#config(statement, values), this.#deadlineMs)
    return result.rows as Row[]
  }

  /** Rows as arrays: no key per value, for the hot path. */
  async queryArrays<Row extends readonly unknown[]>(
    statement: Statement,
    values: readonly unknown[],
  ): Promise<Row[]> {
    const config: QueryArrayConfig = { ...this.#config(statement, values), rowMode: 'array' }
    const result = await queryWithDeadline(this.#target, config, this.#deadlineMs)
    return result.rows as unknown[] as Row[]
  }

  /**
   * Called when the connections turn out to be sessions of our own (no pooling proxy): from now on the
   * server plans each statement once per connection.
   */
  async startPreparing(): Promise<void> {
    if (this.#preparesStatements) return
    await avoidWholeScans(this.pool)
    this.#preparesStatements = true
  }

  /** For functions that also accept a caller's own client, on which no statement is prepared. */
  get queryable(): Queryable {
    return {
      query: (config) => {
        const named = this.#preparesStatements ? { ...config, name: statementNameOf(config.text) } : config
        return queryWithDeadline(this.#target, named, this.#deadlineMs)
      },
    }
  }

  /** Runs `work` in one transaction, including transactions that it starts on the database passed to it. */
  async asOne<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
    if (this.#transaction !== null) return work(this)
    const afterCommit: (() => void)[] = []
    const result = await this.inTransaction((client) => {
      const { pool } = this
      const options = { pool, preparesStatements: this.#preparesStatements, deadlineMs: this.#deadlineMs }
      return work(new Database(options, { client, afterCommit }))
    })
    for (const tell of afterCommit) tell()
    return result
  }

  /** Calls `tell` after the commit, when other sessions can see the changes. */
  afterCommit(tell: () => void): void {
    if (this.#transaction === null) tell()
    else this.#transaction.afterCommit.push(tell)
  }

  /** Runs `work`; its failure doesn't abort the surrounding transaction, if there is one. */
  async attempt<Result>(work: () => Promise<Result>): Promise<Result> {
    if (this.#transaction === null) return work()
    const { client } = this.#transaction
    await queryWithDeadline(client, 'savepoint attempt', this.#deadlineMs)
    try {
      const result = await work()
      await queryWithDeadline(client, 'release savepoint attempt', this.#deadlineMs)
      return result
    } catch (error) {
      const undo = 'rollback to savepoint attempt; release savepoint attempt'
      await queryWithDeadline(client, undo, this.#deadlineMs)
      throw error
    }
  }

  /** Commits all changes of `work`, or none. */
  async inTransaction<Result>(work: (client: PoolClient) => Promise<Result>): Promise<Result> {
    if (this.#transaction !== null) return work(this.#transaction.client)
    const client = await this.pool.connect()
    try {
      await queryWithDeadline(client, 'begin', this.#deadlineMs)
      const result = await work(client)
      await queryWithDeadline(client, 'commit', this.#deadlineMs)
      client.release()
      return result
    } catch (error) {
      await this.#rollBack(client)
      throw error
    }
  }

  /** After a database error the connection is still usable; if the rollback fails, the connection is closed, which rolls back. */
  async #rollBack(client: PoolClient): Promise<void> {
    try {
      await queryWithDeadline(client, 'rollback', this.#deadlineMs)
      client.release()
    } catch {
      client.release(true)
    }
  }

  get #target(): Pool | PoolClient {
    return this.#transaction?.client ?? this.pool
  }

  #config(statement: Statement, values: readonly unknown[]) {
    return this.#preparesStatements
      ? { name: statement.name, text: statement.text, values: [...values] }
      : { text: statement.text, values: [...values] }
  }
}
