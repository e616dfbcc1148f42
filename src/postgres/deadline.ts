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

/** A client, or a pool that lends one for the length of one statement. */
export type QueryTarget = Pool | Client | PoolClient

/** By shape, because an application may hand us a pool of its own copy of pg. */
export function isPool(target: object): target is Pool {
  return 'totalCount' in target
}

/** What pg keeps below its client; its public types leave the socket out. */
interface WithSocket {
  readonly connection?: { readonly stream?: { destroy(error?: Error): void } }
}

/** Cuts the client's socket at once, without the goodbye that a hung server would never answer. */
export function destroySocket(client: Client | PoolClient): void {
  ;(client as unknown as WithSocket).connection?.stream?.destroy()
}

/** The server took the statement: whether it hangs or works, only it knows. */
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
 * A statement that the server refused leaves the connection sound; anything else may not. A server that takes no writes (any more) is
 * left, too: the next connection looks for the one that does.
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
 * Runs one statement under OUR deadline, which covers the wait for a connection too. `statement_timeout` can't
 * replace it: a frozen server or a cut cable cancels nothing. A client that missed it is unusable: release it with the error.
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
