import type { HoldfastError } from '../../core/errors.ts'

/** Exit codes for scripts. Documented in `docs/cli.md`. */
export const exitCode = {
  ok: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  unavailable: 5,
  databaseUnfit: 6,
  denied: 7,
} as const

/** Errors whose HTTP status is not specific enough. */
const exitCodeByError: Readonly<Record<string, number>> = {
  configuration_invalid: exitCode.usage,
  data_dir_locked: exitCode.refused,
  no_connection: exitCode.unavailable,
  api_unavailable: exitCode.unavailable,
  starting: exitCode.unavailable,
  stopping: exitCode.unavailable,
  database_unavailable: exitCode.unavailable,
  query_timeout: exitCode.unavailable,
  embedded_unavailable: exitCode.unavailable,
  not_migrated: exitCode.databaseUnfit,
  schema_too_new: exitCode.databaseUnfit,
  server_too_old: exitCode.databaseUnfit,
}

const exitCodeByStatus: Readonly<Record<number, number>> = {
  400: exitCode.usage,
  401: exitCode.denied,
  403: exitCode.denied,
  404: exitCode.notFound,
  409: exitCode.refused,
  413: exitCode.refused,
  422: exitCode.usage,
  429: exitCode.refused,
  503: exitCode.refused,
}

/** A newer server may have unknown error codes: then the status decides. */
export function exitCodeOf({ code, status }: Pick<HoldfastError, 'code' | 'status'>): number {
  return exitCodeByError[code] ?? exitCodeByStatus[status] ?? exitCode.failure
}

/** By convention, 128 plus the number of the signal that ended the process. */
export const exitCodeBySignal = { SIGINT: 130, SIGTERM: 143 } as const
