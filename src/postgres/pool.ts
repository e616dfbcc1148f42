import { type Client, type ClientConfig, type CustomTypesConfig, Pool, type PoolClient, types } from 'pg'
import { HostClient, type SessionSettings } from './connect/host-client.ts'
import { HostList } from './connect/host-list.ts'
import { noteConnected } from './connected-clients.ts'
import { destroySocket } from './deadline.ts'
import type { PostgresLogger } from './logger.ts'

export interface PoolOptions {
  /** May name several hosts: see `parseDatabaseUrl`. */
  readonly connectionString: string
  /** The most connections that this pool opens. */
  readonly max: number
  readonly applicationName: string
  /**
   * How long users of this pool wait for a statement. The server aborts it soon after: it doesn't notice that a client has
   * gone while a statement runs or waits for a lock, and would hold what it locked. Left out, the server's own settings rule.
   */
  readonly deadlineMs?: number
  /** Bounds both the opening of a connection and the wait for a free one. */
  readonly connectTimeoutMs: number
  /**
   * Plan prepared statements once, whatever their parameters. For statements that are written so that one plan fits all: planning one
   * of the lanes' reads took about 2 ms. Only where each connection is a session of our own.
   */
  readonly plansOnce?: boolean
  readonly logger?: PostgresLogger
}

/**
 * The settings of connections that are ours alone. Each statement that runs on them is written for one plan: rows by index, in the index's order, joined one by one.
 * The planner would choose another plan while a table looks empty, and keep it for hours: on tables that were never analysed, reading pending deliveries by a
 * bitmap and a sort, or by a hash of the whole table, fell from 40,000 deliveries a second to 250 (docs/decisions/0018). A disabled kind of node costs so
 * much on paper that PostgreSQL would compile every statement, so that is off too.
 */
const ownSettings: Readonly<Record<string, string>> = {
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  'holdfast.notifies': 'on',
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

/** The client gives up first and says why; the server follows when this has passed. */
const serverGraceMs = 1000

/** Null: whatever the server's own settings are. */
function sessionSettings({ deadlineMs, plansOnce = false }: PoolOptions): SessionSettings | null {
  const timeouts =
    deadlineMs === undefined
      ? {}
      : {
          statement_timeout: deadlineMs + serverGraceMs,
          // A process that is frozen or cut off in the middle of a transaction keeps others waiting no longer than one that is slow.
          idle_in_transaction_session_timeout: deadlineMs + serverGraceMs,
        }
  const own = plansOnce ? ownSettings : {}
  const settings = Object.entries({ ...timeouts, ...own })
  if (settings.length === 0) return null
  const options = Object.entries(own).map(([name, value]) => `-c ${name}=${value}`)
  return {
    startup: { ...timeouts, ...(options.length > 0 && { options: options.join(' ') }) },
    sql: plansOnce ? settings.map(([name, value]) => `set ${name} = ${value}`).join('; ') : null,
  }
}

interface PoolState {
  readonly clients: Set<Client>
  /** Of the connections that are opened from now on. */
  settings: SessionSettings | null
}

const states = new WeakMap<Pool, PoolState>()

/** A client class for one pool, which knows all of them: also those that are still connecting. */
function trackedClient(state: PoolState, hosts: HostList, options: PoolOptions): typeof Client {
  const { clients } = state
  return class TrackedClient extends HostClient {
    constructor(config?: ClientConfig) {
      const { settings } = state
      super({
        ...config,
        hosts,
        connectionTimeoutMillis: options.connectTimeoutMs,
        ...(settings !== null && { settings }),
      })
      clients.add(this)
      this.once('end', () => clients.delete(this))
      // pg-pool takes its own handler off while a client is checked out: a server that dies in that
      // moment would end the whole process with an unhandled 'error' event.
      this.on('error', () => {})
    }
  }
}

type ConnectCallback = (
  error: Error | undefined,
  client: PoolClient | undefined,
  done: (release?: boolean | Error) => void,
) => void

async function callBack(connecting: Promise<PoolClient>, callback: ConnectCallback): Promise<void> {
  let client: PoolClient
  try {
    client = await connecting
  } catch (error) {
    callback(error as Error, undefined, () => {})
    return
  }
  callback(undefined, client, (release) => client.release(release))
}

/** A pool that tries the hosts of its URL in turn. */
class HostPool extends Pool {
  readonly #hosts: HostList

  constructor(hosts: HostList, config: ConstructorParameters<typeof Pool>[0]) {
    super(config)
    this.#hosts = hosts
  }

  override connect(): Promise<PoolClient>
  override connect(callback: ConnectCallback): void
  override connect(callback?: ConnectCallback): Promise<PoolClient> | void {
    const connecting = this.#hosts.connect(() => super.connect())
    if (callback === undefined) return connecting
    void callBack(connecting, callback)
  }
}

/** A pool that survives the death of its connections, and finds the host that serves. */
export function createPool(options: PoolOptions): Pool {
  const state: PoolState = { clients: new Set(), settings: sessionSettings(options) }
  const hosts = new HostList(options.connectionString)
  const pool = new HostPool(hosts, {
    Client: trackedClient(state, hosts, options),
    max: options.max,
    application_name: options.applicationName,
    connectionTimeoutMillis: options.connectTimeoutMs,
    idleTimeoutMillis: idleTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: keepAliveDelayMs,
    types: bigintAsNumber,
  })
  states.set(pool, state)
  noteConnected(pool)
  pool.on('error', (error) => {
    options.logger?.warn({ error: error.message }, 'An idle database connection was lost')
  })
  return pool
}

const keptPlanSettings = { enable_seqscan: 'off', jit: 'off' }

/**
 * For a pool whose statements are prepared from now on: their plans are kept. One that is made while a table is empty reads all of it, and goes on doing so when it
 * holds a million rows; a table that is seldom used and that vacuum has found empty (dead letters, rejected messages) is such a one on many systems.
 */
export async function avoidWholeScans(pool: Pool): Promise<void> {
  const state = states.get(pool)
  if (state === undefined) return
  const timeouts = state.settings?.startup ?? {}
  const sql = Object.entries({ ...timeouts, ...keptPlanSettings })
    .map(([name, value]) => `set ${name} = ${value}`)
    .join('; ')
  const options = Object.entries(keptPlanSettings).map(([name, value]) => `-c ${name}=${value}`)
  state.settings = { startup: { ...timeouts, options: options.join(' ') }, sql }
  // The pool lends idle connections before it opens another.
  const idle = await Promise.all(Array.from({ length: pool.idleCount }, () => pool.connect()))
  try {
    for (const client of idle) await client.query(sql)
  } finally {
    for (const client of idle) client.release()
  }
}

/** Ends the pool; after `deadlineMs` the sockets are destroyed, so that a hung server can't hold up a stop. */
export async function closePool(pool: Pool, deadlineMs: number): Promise<void> {
  if (pool.ended || pool.ending) return
  const timer = setTimeout(() => {
    for (const client of states.get(pool)?.clients ?? []) destroySocket(client)
  }, deadlineMs)
  try {
    await pool.end()
  } finally {
    clearTimeout(timer)
  }
}
