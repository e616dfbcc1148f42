import { type Client, type ClientConfig, type CustomTypesConfig, Pool, type PoolClient, types } from 'pg'
import { HostClient, type SessionSettings } from './connect/host-client.ts'
import { HostList } from './connect/host-list.ts'
import { noteConnected } from './connected-clients.ts'
import { destroySocket } from './deadline.ts'
import type { PostgresLogger } from './logger.ts'

export interface PoolOptions {
  /** May contain several hosts: see `parseDatabaseUrl`. */
  readonly connectionString: string
  /** Maximum number of connections. */
  readonly max: number
  readonly applicationName: string
  /**
   * How long users of this pool wait for a statement. The server aborts the statement soon after: it doesn't notice that a client has gone while a
   * statement runs or waits for a lock, and would keep its locks. Default: the server's own settings apply.
   */
  readonly deadlineMs?: number
  /** Limits both opening a connection and waiting for a free one. */
  readonly connectTimeoutMs: number
  /**
   * Plan prepared statements once, whatever their parameters, for statements written so that one plan fits all: planning one of the lanes'
   * reads took about 2 ms. Only if each connection is a session of our own.
   */
  readonly plansOnce?: boolean
  /** Each connection is a session of our own, so that settings don't reach other clients. `plansOnce` implies it. */
  readonly ownsSessions?: boolean
  readonly logger?: PostgresLogger
}

/**
 * Settings of connections that are ours alone. Each statement on them is written for one plan: rows by index, in the index's order, with nested
 * loops. While a table looks empty, the planner would choose another plan, and keep it for hours: on tables that were never analysed, reading pending
 * deliveries with a bitmap and a sort, or a hash of the whole table, fell from 40,000 deliveries a second to 250 (docs/decisions/0018). The estimated
 * cost of a disabled node type is so high that PostgreSQL would JIT-compile every statement, so JIT is off too.
 */
const onePlanSettings: Readonly<Record<string, string>> = {
  plan_cache_mode: 'force_generic_plan',
  jit: 'off',
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_sort: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  'holdfast.notifies': 'on',
}

/**
 * Bare names in our statements and functions mean what PostgreSQL itself has. With the default path, a function `public.unnest(bigint[])` of somebody
 * who may create functions there would be preferred to PostgreSQL's, which takes any array, and run with the rights of this session.
 */
const ownNames: Readonly<Record<string, string>> = { search_path: 'pg_catalog,pg_temp' }

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

/** pg's own type for this is an enum of the oids that it knows; a server has others. */
const parserOf = types.getTypeParser as (oid: number, format: 'text' | 'binary') => (value: string) => unknown

type NestedArray = (string | null | NestedArray)[]

function parseInt8Array(text: string): unknown[] {
  const toNumbers = (values: NestedArray): unknown[] =>
    values.map((value) =>
      value === null ? null : Array.isArray(value) ? toNumbers(value) : parseInt8(value),
    )
  // pg's array parser for bigint[] returns the elements as text.
  const parse = parserOf(int8Array, 'text') as (text: string) => NestedArray
  return toNumbers(parse(text))
}

/**
 * Parses bigint as number: our ids stay below 2^53. The parsers belong to one pool or client, because pg's
 * global ones are shared with the application that embeds us.
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

/** The client times out first and reports why; the server aborts the statement this much later. */
const serverGraceMs = 1000

function timeoutsOf(deadlineMs: number | undefined): Readonly<Record<string, number>> {
  if (deadlineMs === undefined) return {}
  return {
    statement_timeout: deadlineMs + serverGraceMs,
    // A process that is frozen or disconnected within a transaction must not block others for longer than a slow one.
    idle_in_transaction_session_timeout: deadlineMs + serverGraceMs,
  }
}

function sessionSettings(
  timeouts: Readonly<Record<string, number>>,
  more: Readonly<Record<string, string>>,
): SessionSettings & { readonly sql: string } {
  const own = Object.entries({ ...ownNames, ...more })
  const all = [...Object.entries(timeouts), ...own]
  return {
    startup: { ...timeouts, options: own.map(([name, value]) => `-c ${name}=${value}`).join(' ') },
    sql: all.map(([name, value]) => `set ${name} = ${value}`).join('; '),
  }
}

interface PoolState {
  readonly clients: Set<Client>
  readonly timeouts: Readonly<Record<string, number>>
  /** For connections that are opened from now on. */
  settings: SessionSettings
}

const states = new WeakMap<Pool, PoolState>()

/** A client class for one pool that tracks all its clients, including those that are still connecting. */
function trackedClient(state: PoolState, hosts: HostList, options: PoolOptions): typeof Client {
  const { clients } = state
  return class TrackedClient extends HostClient {
    constructor(config?: ClientConfig) {
      const { settings } = state
      super({
        ...config,
        hosts,
        connectionTimeoutMillis: options.connectTimeoutMs,
        settings,
      })
      clients.add(this)
      this.once('end', () => clients.delete(this))
      // pg-pool removes its own handler while a client is checked out: if the server died at that moment, the
      // unhandled 'error' event would end the whole process.
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

/** A pool that survives the loss of its connections, and finds the host that serves. */
export function createPool(options: PoolOptions): Pool {
  const { plansOnce = false, ownsSessions = plansOnce } = options
  const timeouts = timeoutsOf(options.deadlineMs)
  const settings = sessionSettings(timeouts, plansOnce ? onePlanSettings : {})
  const state: PoolState = {
    clients: new Set(),
    timeouts,
    settings: ownsSessions ? settings : { ...settings, sql: null },
  }
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
 * For a pool whose statements are prepared from now on, because their plans are kept. A plan made while a table is empty
 * scans the whole table, and still does so when it has a million rows. Seldom used tables that vacuum found empty (dead
 * letters, rejected messages) are such tables on many systems.
 */
export async function avoidWholeScans(pool: Pool): Promise<void> {
  const state = states.get(pool)
  if (state === undefined) return
  const settings = sessionSettings(state.timeouts, keptPlanSettings)
  state.settings = settings
  // The pool reuses idle connections before it opens another.
  const idle = await Promise.all(Array.from({ length: pool.idleCount }, () => pool.connect()))
  try {
    for (const client of idle) await client.query(settings.sql)
  } finally {
    for (const client of idle) client.release()
  }
}

/** Ends the pool; after `deadlineMs` the sockets are destroyed, so that a hung server can't delay a stop. */
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
