/** One entry of the catalogue: what happened, which HTTP status says so, and whether trying again can help. */
interface ErrorEntry {
  readonly status: number
  readonly isRetryable: boolean
}

/** Every error that a user can meet. `docs/errors.md` has a section for each code. */
export const errorCatalogue = {
  endpoint_not_found: { status: 404, isRetryable: false },
  endpoint_exists: { status: 409, isRetryable: false },
  invalid_name: { status: 422, isRetryable: false },
  invalid_endpoint: { status: 422, isRetryable: false },
  invalid_options: { status: 422, isRetryable: false },
  invalid_payload: { status: 422, isRetryable: false },
  payload_too_large: { status: 413, isRetryable: false },
  route_not_found: { status: 404, isRetryable: false },
  route_exists: { status: 409, isRetryable: false },
  invalid_route: { status: 422, isRetryable: false },
  still_owed: { status: 409, isRetryable: false },
  event_type_not_found: { status: 404, isRetryable: false },
  invalid_event_type: { status: 422, isRetryable: false },
  schema_violation: { status: 422, isRetryable: false },
  queue_full: { status: 429, isRetryable: true },
  idempotency_conflict: { status: 409, isRetryable: false },
  circuit_open: { status: 503, isRetryable: true },
  endpoint_unavailable: { status: 503, isRetryable: true },
  database_unavailable: { status: 503, isRetryable: true },
  server_too_old: { status: 500, isRetryable: false },
  schema_too_new: { status: 500, isRetryable: false },
  not_migrated: { status: 500, isRetryable: false },
  configuration_invalid: { status: 500, isRetryable: false },
  data_dir_locked: { status: 500, isRetryable: false },
  embedded_unavailable: { status: 500, isRetryable: false },
} as const satisfies Record<string, ErrorEntry>

export type ErrorCode = keyof typeof errorCatalogue

/** An error with a stable code. Its message says what happened, to what, and what to do. */
export class HoldfastError extends Error {
  readonly code: ErrorCode
  readonly details: Readonly<Record<string, unknown>>

  constructor(code: ErrorCode, message: string, details: Record<string, unknown> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'HoldfastError'
    this.code = code
    this.details = details
  }

  get status(): number {
    return errorCatalogue[this.code].status
  }

  get isRetryable(): boolean {
    return errorCatalogue[this.code].isRetryable
  }
}
