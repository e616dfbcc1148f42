import {
  type Client,
  DatabaseError,
  type Pool,
  type PoolClient,
  type QueryConfig,
  type QueryResult,
  type QueryResultRow,
} from 'pg'
import { HoldfastError } from '../core/errors.ts'
import { connectedCount } from './connected-clients.ts'

/** A client, or a pool that provides one for a single statement. */
export type QueryTarget = Pool | Client | PoolClient

/** Checked by shape, because an application may pass a pool of its own copy of pg. */
export function isPool(target: object): target is Pool {
  return 'totalCount' in target
}

/** The part of pg's client that has the socket; its public types omit it. */
interface WithSocket {
  readonly connection?: { readonly stream?: { destroy(error?: Error): void } }
}

/** Destroys the client's socket at once, without the termination message that a hung server would never read. */
export function destroySocket(client: Client | PoolClient): void {
  ;(client as unknown as WithSocket).connection?.stream?.destroy()
}

/** The server received the statement; whether it hangs or is working is unknown. */
function noAnswer(deadlineMs: number): HoldfastError {
  return new HoldfastError(
    'query_timeout',
    `PostgreSQL accepted a statement but did not respond within ${deadlineMs} ms, so the connection was closed. ` +
      'Ask for less at a time, and check that the server is not overloaded.',
    { deadlineMs },
  )
}

function noConnection(pool: Pool, deadlineMs: number): HoldfastError {
  const { max } = pool.options
  if (connectedCount(pool) >= max) {
    return new HoldfastError(
      'query_timeout',
      `None of the ${max} database connections became free within ${deadlineMs} ms: all of them wait for slow statements. ` +
        'Check what the server is busy with, or raise maxConnections.',
      { deadlineMs },
    )
  }
  return new HoldfastError(
    'database_unavailable',
    `No connection to PostgreSQL was established within ${deadlineMs} ms. Check that the server is up, reachable and not overloaded.`,
    { deadlineMs },
  )
}

async function queryClient<Row extends QueryResultRow>(
  client: Client | PoolClient,
  query: string | QueryConfig,
  deadlineMs: number,
  totalMs: number,
): Promise<QueryResult<Row>> {
  let timer: NodeJS.Timeout | undefined
  const running = client.query<Row>(query as QueryConfig)
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      destroySocket(client)
      reject(noAnswer(totalMs))
    }, deadlineMs)
  })
  // The destroyed socket rejects the statement too; that second rejection is ignored.
  running.catch(() => {})
  try {
    return await Promise.race([running, expired])
  } finally {
    clearTimeout(timer)
  }
}

const readOnly = '25006'

/**
 * A statement that the server rejected leaves the connection usable; any other error may not. A server that rejects writes is
 * also disconnected: the next connection looks for the writable one.
 */
function leavesSound(error: unknown): boolean {
  return error instanceof DatabaseError && error.code !== readOnly
}

async function connectWithin(pool: Pool, deadlineMs: number): Promise<PoolClient> {
  let timer: NodeJS.Timeout | undefined
  let isExpired = false
  const connecting = pool.connect()
  connecting.then(
    (client) => (isExpired ? client.release() : undefined),
    () => {},
  )
  const expired = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      isExpired = true
      reject(noConnection(pool, deadlineMs))
    }, deadlineMs)
  })
  try {
    return await Promise.race([connecting, expired])
  } finally {
    clearTimeout(timer)
  }
}

/**
 * Runs one statement under OUR deadline, which includes the wait for a connection. `statement_timeout` can't replace it: a frozen server or a cut
 * cable cancels nothing. A client that missed the deadline is unusable: release it with the error.
 */
export async function queryWithDeadline<Row extends QueryResultRow = QueryResultRow>(
  target: QueryTarget,
  query: string | QueryConfig,
  deadlineMs: number,
): Promise<QueryResult<Row>> {
  if (!isPool(target)) return queryClient<Row>(target, query, deadlineMs, deadlineMs)
  const startedAt = performance.now()
  const client = await connectWithin(target, deadlineMs)
  const remainingMs = Math.max(1, deadlineMs - (performance.now() - startedAt))
  try {
    const result = await queryClient<Row>(client, query, remainingMs, deadlineMs)
    client.release()
    return result
  } catch (error) {
    client.release(leavesSound(error) ? undefined : (error as Error))
    throw error
  }
}
