/** One entry of the error catalogue: its HTTP status, and whether a retry can help. */
interface ErrorEntry {
  readonly status: number
  readonly isRetryable: boolean
}

/** Every error that users can get. `docs/errors.md` has a section for each code. */
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
  source_not_found: { status: 404, isRetryable: false },
  source_exists: { status: 409, isRetryable: false },
  source_changed: { status: 409, isRetryable: true },
  invalid_source: { status: 422, isRetryable: false },
  source_reject_not_found: { status: 404, isRetryable: false },
  setting_not_found: { status: 404, isRetryable: false },
  setting_pinned: { status: 409, isRetryable: false },
  invalid_setting: { status: 422, isRetryable: false },
  demo_not_offered: { status: 409, isRetryable: false },
  task_not_found: { status: 404, isRetryable: false },
  quarantined_result_not_found: { status: 404, isRetryable: false },
  alert_not_found: { status: 404, isRetryable: false },
  alert_channel_exists: { status: 409, isRetryable: false },
  alert_not_sent: { status: 409, isRetryable: true },
  invalid_alert: { status: 422, isRetryable: false },
  schema_violation: { status: 422, isRetryable: false },
  event_not_found: { status: 404, isRetryable: false },
  event_erased: { status: 409, isRetryable: false },
  delivery_not_found: { status: 404, isRetryable: false },
  dead_letter_not_found: { status: 404, isRetryable: false },
  dead_letter_settled: { status: 409, isRetryable: false },
  delivery_settled: { status: 409, isRetryable: false },
  operation_not_found: { status: 404, isRetryable: false },
  operation_ended: { status: 409, isRetryable: false },
  invalid_filter: { status: 422, isRetryable: false },
  event_type_exists: { status: 409, isRetryable: false },
  api_key_not_found: { status: 404, isRetryable: false },
  api_key_exists: { status: 409, isRetryable: false },
  unauthenticated: { status: 401, isRetryable: false },
  forbidden: { status: 403, isRetryable: false },
  too_many_attempts: { status: 429, isRetryable: true },
  previews_busy: { status: 503, isRetryable: true },
  checks_busy: { status: 503, isRetryable: true },
  too_many_readers: { status: 503, isRetryable: true },
  csrf_failed: { status: 403, isRetryable: false },
  not_found: { status: 404, isRetryable: false },
  method_not_allowed: { status: 405, isRetryable: false },
  invalid_request: { status: 422, isRetryable: false },
  invalid_json: { status: 400, isRetryable: false },
  bad_http: { status: 400, isRetryable: false },
  unsupported_media_type: { status: 415, isRetryable: false },
  body_too_large: { status: 413, isRetryable: false },
  idempotency_in_flight: { status: 409, isRetryable: true },
  idempotency_key_reused: { status: 422, isRetryable: false },
  starting: { status: 503, isRetryable: true },
  stopping: { status: 503, isRetryable: true },
  internal_error: { status: 500, isRetryable: true },
  job_exists: { status: 409, isRetryable: false },
  job_not_found: { status: 404, isRetryable: false },
  invalid_job: { status: 422, isRetryable: false },
  queue_not_found: { status: 404, isRetryable: false },
  run_not_found: { status: 404, isRetryable: false },
  run_failed: { status: 409, isRetryable: false },
  run_not_ended: { status: 504, isRetryable: true },
  worker_not_found: { status: 404, isRetryable: false },
  schedule_not_found: { status: 404, isRetryable: false },
  invalid_schedule: { status: 422, isRetryable: false },
  queue_full: { status: 429, isRetryable: true },
  idempotency_conflict: { status: 409, isRetryable: false },
  circuit_open: { status: 503, isRetryable: true },
  endpoint_unavailable: { status: 503, isRetryable: true },
  database_unavailable: { status: 503, isRetryable: true },
  query_timeout: { status: 504, isRetryable: true },
  disk_full: { status: 503, isRetryable: true },
  api_unavailable: { status: 503, isRetryable: true },
  invalid_answer: { status: 502, isRetryable: false },
  no_connection: { status: 500, isRetryable: false },
  not_confirmed: { status: 409, isRetryable: false },
  invalid_file: { status: 422, isRetryable: false },
  server_too_old: { status: 500, isRetryable: false },
  schema_too_new: { status: 500, isRetryable: false },
  not_migrated: { status: 500, isRetryable: false },
  role_not_allowed: { status: 500, isRetryable: false },
  encryption_key_missing: { status: 500, isRetryable: false },
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
