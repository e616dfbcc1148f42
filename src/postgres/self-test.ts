import { randomBytes } from 'node:crypto'
import { type Client, escapeIdentifier } from 'pg'
import { HoldfastError } from '../core/errors.ts'
import { HostClient } from './connect/host-client.ts'
import { HostList } from './connect/host-list.ts'
import { isConnectionError } from './connection-error.ts'
import { destroySocket, queryWithDeadline } from './deadline.ts'

export interface SessionSupport {
  /** A notification reaches a connection that listens for it. */
  readonly listens: boolean
  /** What a session sets is still there in its next transaction. */
  readonly keepsSessions: boolean
  /** Why not, for a person to read; null when all is well. */
  readonly reason: string | null
}

export interface SelfTestOptions {
  /** For the whole test, connecting included. */
  readonly deadlineMs?: number
  /** How long a notification may take; only a proxy that loses them makes us wait for it. */
  readonly notificationWaitMs?: number
}

/** Enough to take the session's own backend away from it, in a proxy that hands idle ones out in any order. */
const rivalCount = 4

/**
 * Finds out whether something between us and the server hands each TRANSACTION to whatever backend is free
 * (PgBouncer in transaction mode, and its kin). Such a proxy looks like a server until a session's state is gone.
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
    // PgBouncer says it with the code of a broken connection; trying again would not help.
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
