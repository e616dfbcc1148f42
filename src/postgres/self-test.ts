import { randomBytes } from 'node:crypto'
import { type Client, escapeIdentifier } from 'pg'
import { HoldfastError } from '../core/errors.ts'
import { HostClient } from './connect/host-client.ts'
import { HostList } from './connect/host-list.ts'
import { isConnectionError } from './connection-error.ts'
import { destroySocket, queryWithDeadline } from './deadline.ts'

export interface SessionSupport {
  /** Notifications reach a listening connection. */
  readonly listens: boolean
  /** Settings of a session persist in its next transaction. */
  readonly keepsSessions: boolean
  /** Why not, for operators; null if both hold. */
  readonly reason: string | null
}

export interface SelfTestOptions {
  /** For the whole test, including connecting. */
  readonly deadlineMs?: number
  /** How long a notification may take; the test waits this long only behind a proxy that loses notifications. */
  readonly notificationWaitMs?: number
}

/** Enough connections to take the session's backend away from it, if a proxy assigns idle backends in any order. */
const rivalCount = 4

/**
 * Finds out whether a proxy in front of the server assigns each TRANSACTION to any free backend (PgBouncer in transaction mode, and similar
 * ones). Such a proxy behaves like a server until a session's state is lost.
 */
export async function testSessionSupport(
  connectionString: string,
  options: SelfTestOptions = {},
): Promise<SessionSupport> {
  const deadline = performance.now() + (options.deadlineMs ?? 10_000)
  const remainingMs = () => Math.max(1, deadline - performance.now())
  const clients: Client[] = []
  const hosts = new HostList(connectionString)
  const open = async () => {
    const client = new HostClient({
      hosts,
      application_name: 'holdfast-self-test',
      connectionTimeoutMillis: remainingMs(),
    })
    client.on('error', () => {})
    clients.push(client)
    await client.connect()
    return client
  }
  const connect = () => hosts.connect(open)
  const run = (client: Client, text: string, values: unknown[] = []) =>
    queryWithDeadline<{ value: string | null }>(client, { text, values }, remainingMs())
  try {
    const session = await connect()
    const lost = await findLostSession(session, connect, run)
    if (lost !== null) return { listens: false, keepsSessions: false, reason: lost }
    const missed = await findMissedNotification(session, connect, run, options.notificationWaitMs ?? 2_000)
    return { listens: missed === null, keepsSessions: true, reason: missed }
  } catch (error) {
    // PgBouncer reports this with the code of a broken connection, but a retry would not help.
    if (/statement pooling mode/.test((error as Error).message)) {
      throw new HoldfastError(
        'configuration_invalid',
        'A proxy that pools single statements stands before PostgreSQL, and Holdfast needs transactions. Set pool_mode = transaction or session in PgBouncer, or connect to the server directly.',
        {},
        error,
      )
    }
    if (!isConnectionError(error) || error instanceof HoldfastError) throw error
    throw new HoldfastError(
      'database_unavailable',
      `The connection to PostgreSQL failed: ${(error as Error).message}. Check its address and that it is up.`,
      {},
      error,
    )
  } finally {
    for (const client of clients) destroySocket(client)
  }
}

type Connect = () => Promise<Client>
type Run = (client: Client, text: string, values?: unknown[]) => Promise<{ rows: { value: string | null }[] }>

async function findLostSession(session: Client, connect: Connect, run: Run): Promise<string | null> {
  const token = randomBytes(8).toString('hex')
  await run(session, `select set_config('holdfast.self_test', $1, false) as value`, [token])
  const rivals: Client[] = []
  try {
    for (let count = 1; count <= rivalCount; count++) {
      const rival = await connect()
      rivals.push(rival)
      await run(rival, 'begin')
      const seen = await run(rival, `select current_setting('holdfast.self_test', true) as value`)
      if (seen.rows[0]?.value === token) return `one session's settings appeared in another's: ${proxyAdvice}`
      const kept = await run(session, `select current_setting('holdfast.self_test', true) as value`)
      if (kept.rows[0]?.value !== token)
        return `a session's settings were lost between two transactions: ${proxyAdvice}`
    }
    return null
  } finally {
    for (const rival of rivals) await run(rival, 'rollback').catch(() => {})
    await run(session, `select set_config('holdfast.self_test', '', false) as value`).catch(() => {})
  }
}

const proxyAdvice =
  'a proxy that pools transactions stands before PostgreSQL. Holdfast polls instead of listening; ' +
  'for lower latency, connect it to the server directly or to a pool in session mode.'

async function findMissedNotification(
  session: Client,
  connect: Connect,
  run: Run,
  waitMs: number,
): Promise<string | null> {
  const channel = `holdfast_self_test_${randomBytes(8).toString('hex')}`
  let timer: NodeJS.Timeout | undefined
  const arrived = new Promise<boolean>((resolve) => {
    session.on('notification', (message) => {
      if (message.channel === channel) resolve(true)
    })
    timer = setTimeout(() => resolve(false), waitMs)
  })
  try {
    await run(session, `listen ${escapeIdentifier(channel)}`)
    await run(await connect(), 'select pg_notify($1, $2)', [channel, ''])
    if (await arrived) return null
    return `a notification didn't arrive within ${waitMs} ms, so Holdfast polls instead of listening.`
  } catch (error) {
    if (isConnectionError(error)) throw error
    return `LISTEN was refused (${(error as Error).message}), so Holdfast polls instead of listening.`
  } finally {
    clearTimeout(timer)
  }
}
