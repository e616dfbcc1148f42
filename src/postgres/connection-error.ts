import { HoldfastError } from '../core/errors.ts'

/** Our own codes for a server or broker that can't be reached, or didn't answer a statement: the connection can't be used after any of them. */
const ourCodes: ReadonlySet<string> = new Set(['database_unavailable', 'query_timeout', 'broker_unavailable'])

/** Error codes of sockets and name look-ups that mean "the server can't be reached", not "the statement is wrong". */
const socketCodes: ReadonlySet<string> = new Set([
  'ECONNRESET',
  'ECONNREFUSED',
  'ECONNABORTED',
  'EPIPE',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
])

/**
 * Admin shutdown, crash shutdown, cannot connect now, idle-session and idle-in-transaction timeout, too many connections.
 * 57P04 (database dropped) is left out: waiting doesn't bring a dropped database back.
 */
const serverCodes: ReadonlySet<string> = new Set(['57P01', '57P02', '57P03', '57P05', '25P03', '53300'])

/** pg raises these as plain errors without a code. */
const driverMessages = [
  'Connection terminated',
  'timeout expired',
  'timeout exceeded when trying to connect',
  'Client has encountered a connection error and is not queryable',
  'Client was closed and is not queryable',
]

/** True when the connection failed, so that the same statement may be run again once the server is back. */
export function isConnectionError(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  if (ourCodes.has(code) || socketCodes.has(code) || serverCodes.has(code)) return true
  // A unix socket whose server is down. A missing file has the same code, but isn't a connection error.
  if (code === 'ENOENT') return 'syscall' in error && error.syscall === 'connect'
  if (/^08[0-9A-Z]{3}$/.test(code)) return true
  // `localhost` resolves to two addresses: if both refuse, the error is an AggregateError.
  if (error instanceof AggregateError && error.errors.length > 0) {
    return error.errors.every((inner) => isConnectionError(inner))
  }
  return driverMessages.some((message) => error.message.startsWith(message))
}

/**
 * Serialization failures, insufficient resources (including a full disk), lock and statement timeouts, I/O errors, and a read-only server (a standby
 * before its promotion; a host whose disk is nearly full). The data causes none of them.
 */
const transientCodes = /^(40|53|58)[0-9A-Z]{3}$|^(25006|55P03|57014)$/

/** True when the same statement, unchanged, may succeed later. */
export function isTransientError(error: unknown): boolean {
  if (isConnectionError(error)) return true
  return (
    error instanceof Error &&
    'code' in error &&
    typeof error.code === 'string' &&
    transientCodes.test(error.code)
  )
}

/** The server, or a proxy in front of it, refuses our login: waiting doesn't help. */
export function isLoginRefused(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if (error instanceof HoldfastError) return isLoginRefused(error.cause)
  const code = 'code' in error ? error.code : undefined
  if (code === '28000' || code === '28P01' || code === '3D000') return true
  // PgBouncer reports this with the code of a protocol violation.
  return code === '08P01' && /no such (?:database|user)|auth(?:entication)? failed/i.test(error.message)
}

const plainWords: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'the connection was refused',
  ECONNRESET: 'the connection was closed',
  EPIPE: 'the connection was closed',
  ETIMEDOUT: 'it does not respond',
  EHOSTUNREACH: 'its host is not reachable',
  ENETUNREACH: 'its network is not reachable',
  ENOTFOUND: 'its host name is unknown',
  EAI_AGAIN: "its host name can't be resolved at the moment",
  ENOENT: 'its socket does not exist',
  '28P01': 'the login was rejected',
  '28000': 'the login was rejected',
  '3D000': 'the database does not exist',
}

/** Describes why a connection failed, in a few words without address, user or password. */
export function describeConnectionError(error: unknown): string {
  if (!(error instanceof Error)) return 'an unknown error'
  const first = error instanceof AggregateError ? (error.errors as unknown[])[0] : undefined
  if (first !== undefined) return describeConnectionError(first)
  const code = 'code' in error && typeof error.code === 'string' ? error.code : ''
  const words = plainWords[code]
  if (words !== undefined) return words
  if (error.cause instanceof Error) return describeConnectionError(error.cause)
  if (
    /^(?:timeout expired|Connection terminated due to connection timeout|timeout exceeded)/.test(
      error.message,
    )
  ) {
    return 'it does not respond'
  }
  if (code === 'database_unavailable' && 'deadlineMs' in ((error as { details?: object }).details ?? {})) {
    return 'it does not respond'
  }
  const text = error.message.replace(/\.$/, '')
  return text.charAt(0).toLowerCase() + text.slice(1)
}
