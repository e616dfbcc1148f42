import { STATUS_CODES } from 'node:http'
import type { ProblemDocument } from '../contract/problem.ts'
import { type ErrorCode, HoldfastError } from '../core/errors.ts'
import type { Problem } from '../core/problem.ts'
import { translateError } from '../storage/translate-error.ts'

const documentation = 'https://holdfast.dev/errors'
/** For retryable errors without a better value. */
const defaultRetryAfterSeconds = 1

/** Texts for callers, without the addresses, ports and table names that the log contains. */
const detailForCallers: Readonly<Partial<Record<ErrorCode, string>>> = {
  database_unavailable:
    "The database can't be reached at the moment. Try again; repeating a publish with the same Idempotency-Key stores the event once.",
  query_timeout:
    'The database exceeded the time limit for this request. Ask for less (a narrower filter, a shorter time range, a smaller page), or try again when the database is less busy.',
  disk_full: "The database's disk is full: nothing was stored. Free some disk space, then try again.",
  not_migrated:
    'The database does not have the schema that this node needs. An operator must run: holdfast migrate',
}

export interface ProblemAnswer {
  readonly status: number
  readonly body: ProblemDocument
  readonly retryAfterSeconds: number | null
}

/** An error as in RFC 9457. Errors that aren't in our catalogue reveal nothing about internals. */
export function toProblem(error: unknown, requestId: string): ProblemAnswer {
  const known = error instanceof HoldfastError ? error : unknownError(error)
  const { status } = known
  const problems = problemsOf(known)
  return {
    status,
    body: {
      type: `${documentation}#${known.code}`,
      title: STATUS_CODES[status] ?? 'Error',
      status,
      detail: detailForCallers[known.code] ?? known.message,
      code: known.code,
      requestId,
      ...(problems !== undefined && { problems }),
    },
    retryAfterSeconds: retryAfterSeconds(known),
  }
}

/** Errors of Fastify and Node.js as errors of our catalogue. */
const codeOfForeignError: Readonly<Record<string, readonly [ErrorCode, string]>> = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'Send the body as application/json.'],
  FST_ERR_CTP_BODY_TOO_LARGE: ['body_too_large', 'The body is larger than this operation accepts.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [
    'bad_http',
    'The length of the body differs from the Content-Length header.',
  ],
  FST_ERR_BAD_URL: ['bad_http', 'The path is not a valid URL: percent-encode special characters.'],
  FST_ERR_MAX_PARAM_LENGTH: ['bad_http', 'A part of the path is too long.'],
  FST_ERR_CTP_EMPTY_JSON_BODY: ['invalid_json', 'The body is empty: send JSON, or leave out Content-Type.'],
}

function unknownError(error: unknown): HoldfastError {
  const code = (error as { code?: unknown } | null)?.code
  if (isAborted(error))
    return new HoldfastError('bad_http', 'The connection ended before the whole body arrived.')
  const foreign = typeof code === 'string' ? codeOfForeignError[code] : undefined
  if (foreign !== undefined) return new HoldfastError(foreign[0], foreign[1], {}, error)
  const translated = translateError(error)
  if (translated instanceof HoldfastError) return translated
  return new HoldfastError(
    'internal_error',
    "An internal error occurred. The node's log has the details under this request id.",
    {},
    error,
  )
}

/** The client has disconnected; this isn't a failure of the server. */
function isAborted(error: unknown): boolean {
  const { code, statusCode } = (error ?? {}) as { code?: unknown; statusCode?: unknown }
  return code === 'ECONNRESET' && statusCode === 400
}

function problemsOf(error: HoldfastError): Problem[] | undefined {
  const { problems } = error.details
  return Array.isArray(problems) ? (problems as Problem[]) : undefined
}

function retryAfterSeconds(error: HoldfastError): number | null {
  if (error.status !== 429 && error.status !== 503) return null
  const { retryAfterMs } = error.details
  if (typeof retryAfterMs !== 'number') return defaultRetryAfterSeconds
  return Math.max(1, Math.ceil(retryAfterMs / 1000))
}
