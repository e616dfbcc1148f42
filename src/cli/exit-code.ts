import { type ErrorCode, errorCatalogue } from '../core/errors.ts'

/** What a script can tell from `$?`. Documented in `docs/cli.md`. */
export const exitCode = {
  ok: 0,
  failure: 1,
  usage: 2,
  notFound: 3,
  refused: 4,
  databaseUnavailable: 5,
  databaseUnfit: 6,
} as const

/** Where the HTTP status alone says too little. */
const exitCodeByError: Readonly<Partial<Record<ErrorCode, number>>> = {
  configuration_invalid: exitCode.usage,
  data_dir_locked: exitCode.refused,
  database_unavailable: exitCode.databaseUnavailable,
  embedded_unavailable: exitCode.databaseUnavailable,
  not_migrated: exitCode.databaseUnfit,
  schema_too_new: exitCode.databaseUnfit,
  server_too_old: exitCode.databaseUnfit,
}

const exitCodeByStatus: Readonly<Record<number, number>> = {
  404: exitCode.notFound,
  409: exitCode.refused,
  413: exitCode.refused,
  422: exitCode.usage,
  429: exitCode.refused,
  503: exitCode.refused,
}

export function exitCodeOf(code: ErrorCode): number {
  return exitCodeByError[code] ?? exitCodeByStatus[errorCatalogue[code].status] ?? exitCode.failure
}

/** By convention a process that a signal ended has 128 plus the signal's number. */
export const exitCodeBySignal = { SIGINT: 130, SIGTERM: 143 } as const
