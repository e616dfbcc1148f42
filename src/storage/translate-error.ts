import { type ErrorCode, HoldfastError } from '../core/errors.ts'
import { isConnectionError, isLoginRefused } from '../postgres/connection-error.ts'

/** The SQLSTATEs that our SQL functions raise, and the error codes that users see. */
export const codeBySqlState: Readonly<Record<string, ErrorCode>> = {
  HF001: 'endpoint_not_found',
  HF002: 'invalid_options',
  HF003: 'payload_too_large',
  HF004: 'idempotency_conflict',
  HF005: 'route_not_found',
  HF006: 'still_owed',
  HF007: 'invalid_filter',
  HF008: 'dead_letter_not_found',
  HF009: 'dead_letter_settled',
  HF030: 'job_not_found',
  HF031: 'queue_not_found',
  HF032: 'invalid_job',
  HF010: 'operation_not_found',
  HF011: 'operation_ended',
  HF012: 'event_not_found',
  HF013: 'event_erased',
  HF015: 'endpoint_exists',
  HF016: 'invalid_endpoint',
  HF040: 'setting_not_found',
  HF041: 'setting_pinned',
  HF042: 'invalid_setting',
  '25006': 'database_unavailable',
  '53100': 'disk_full',
  '53400': 'queue_full',
  '22P02': 'invalid_payload',
  '22P05': 'invalid_payload',
  '22021': 'invalid_payload',
  '3F000': 'not_migrated',
  '42P01': 'not_migrated',
  '42883': 'not_migrated',
}

/** What pg says of a pool that has been closed; the error has no code. */
const endedPool = 'Cannot use a pool after calling end on the pool'

/** Converts a PostgreSQL error into one of our catalogue; unknown errors are returned unchanged. */
export function translateError(error: unknown): unknown {
  if (error instanceof HoldfastError || !(error instanceof Error)) return error
  const { code, hint } = error as Error & { code?: string; hint?: string }
  const known = code === undefined ? undefined : codeBySqlState[code]
  if (known === 'not_migrated') {
    return new HoldfastError(
      'not_migrated',
      `The database doesn't have the schema that this process needs: ${error.message}. Run: holdfast migrate`,
      { sqlState: code },
      error,
    )
  }
  if (known !== undefined) {
    const advice = hint === undefined ? '' : ` ${hint}`
    return new HoldfastError(known, `${capitalised(error.message)}.${advice}`, { sqlState: code }, error)
  }
  if (isLoginRefused(error)) {
    return new HoldfastError(
      'database_unavailable',
      `PostgreSQL rejected the connection: ${error.message}. Check the user, the password and the database's name in HOLDFAST_DATABASE_URL.`,
      { sqlState: code },
      error,
    )
  }
  if (error.message === endedPool) {
    return new HoldfastError(
      'stopping',
      'This Holdfast has been stopped, and its connections are closed. Nothing was stored; create a new one with new Holdfast(…).',
      {},
      error,
    )
  }
  if (code === '42501') {
    return new HoldfastError(
      'role_not_allowed',
      `PostgreSQL denied permission: ${error.message}. Run holdfast.grant_app, grant_monitor or grant_admin to let the database role publish, look or operate; ` +
        'nodes, workers and the management of endpoints need the role that owns the schema.',
      { sqlState: code },
      error,
    )
  }
  if (code === '57014') {
    return new HoldfastError(
      'query_timeout',
      `PostgreSQL cancelled a statement that took too long (${error.message}). Nothing was changed. Ask for less at a time, or try again when the server is less busy.`,
      { sqlState: code },
      error,
    )
  }
  if (isConnectionError(error)) {
    return new HoldfastError(
      'database_unavailable',
      `The database can't be reached: ${error.message}. Nothing was stored; try again.`,
      {},
      error,
    )
  }
  return error
}

/** PostgreSQL's messages begin with a small letter, ours are sentences. A code name at the start (`asOf`) is left unchanged. */
function capitalised(message: string): string {
  return /^[a-z]+[ ,]/.test(message) ? message.charAt(0).toUpperCase() + message.slice(1) : message
}
