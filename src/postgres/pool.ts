import { Client, type ClientConfig, type CustomTypesConfig, Pool, types } from 'pg'
import { noteConnected } from './connected-clients.ts'
import { destroySocket } from './deadline.ts'
import type { PostgresLogger } from './logger.ts'

export interface PoolOptions {
  readonly connectionString: string
  /** The most connections that this pool opens. */
  readonly max: number
  readonly applicationName: string
  /** The server cancels a statement that runs longer. Left out, the server's own setting rules. */
  readonly statementTimeoutMs?: number
  /** Bounds both the opening of a connection and the wait for a free one. */
  readonly connectTimeoutMs: number
  /**
   * Plan prepared statements once, whatever their parameters. For statements that are written so that one plan fits all: planning one
   * of the lanes' reads took about 2 ms. A start-up parameter, so only on connections without a proxy.
   */
  readonly plansOnce?: boolean
  readonly logger?: PostgresLogger
}

const keepAliveDelayMs = 10_000
const idleTimeoutMs = 30_000

const int8 = 20
const int8Array = 1016

function parseInt8(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) {
    throw new RangeError(
      `PostgreSQL returned the bigint ${text}, which a JavaScript number can't hold. Cast it to text.`,
    )
  }
  return value
}

/** pg's own type for this names an enum of the oids that it knows; a server has others. */
const parserOf = types.getTypeParser as (oid: number, format: 'text' | 'binary') => (value: string) => unknown

type NestedArray = (string | null | NestedArray)[]

function parseInt8Array(text: string): unknown[] {
  const toNumbers = (values: NestedArray): unknown[] =>
    values.map((value) =>
      value === null ? null : Array.isArray(value) ? toNumbers(value) : parseInt8(value),
    )
  // The array parser that pg holds for bigint[] yields its elements as text.
  const parse = parserOf(int8Array, 'text') as (text: string) => NestedArray
  return toNumbers(parse(text))
}

/**
 * Reads bigint as number: our ids stay below 2^53. The parsers belong to one pool or client,
 * because pg's global ones are shared with the application that embeds us.
 */
export const bigintAsNumber: CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: 'text' | 'binary') => {
    if (format !== 'binary') {
      if (oid === int8) return parseInt8
      if (oid === int8Array) return parseInt8Array
    }
    return parserOf(oid, format ?? 'text')
  }) as CustomTypesConfig['getTypeParser'],
}

const openClients = new WeakMap<Pool, Set<Client>>()

/** A client class for one pool, which knows all of them: also those that are still connecting. */
function trackedClient(clients: Set<Client>): typeof Client {
  return class TrackedClient extends Client {
    constructor(config?: ClientConfig) {
      super(config)
      clients.add(this)
      this.once('end', () => clients.delete(this))
      // pg-pool takes its own handler off while a client is checked out: a server that dies in that
      // moment would end the whole process with an unhandled 'error' event.
      this.on('error', () => {})
    }
  }
}

/**
 * A pool that survives the death of its connections.
 * `statementTimeoutMs` travels as a start-up parameter, which PgBouncer refuses unless told to ignore it.
 */
export function createPool(options: PoolOptions): Pool {
  const clients = new Set<Client>()
  const pool = new Pool({
    Client: trackedClient(clients),
    connectionString: options.connectionString,
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectTimeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
    types: bigintAsNumber,
    ...(options.plansOnce === true
      ? { options: '-c plan_cache_mode=force_generic_plan -c jit=off -c holdfast.notifies=on' }
      : {}),
    ...(options.statementTimeoutMs === undefined ? {} : { statement_timeout: options.statementTimeoutMs }),
  })
  openClients.set(pool, clients)
  noteConnected(pool)
  pool.on('error', (error) => {
    options.logger?.warn({ error: error.message }, 'an idle database connection was lost')
  })
  return pool
}

/** Ends the pool; after `deadlineMs` the sockets are destroyed, so that a hung server can't hold up a stop. */
export async function closePool(pool: Pool, deadlineMs: number): Promise<void> {
  if (pool.ended || pool.ending) return
  const timer = setTimeout(() => {
    for (const client of openClients.get(pool) ?? []) destroySocket(client)
  }, deadlineMs)
  try {
    await pool.end()
  } finally {
    clearTimeout(timer)
  }
}
