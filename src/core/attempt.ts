/** How one try at a delivery ended. The retry policy, the circuit breaker and the dead letters all decide by this word. */
export type AttemptClass = 'success' | 'retryable' | 'permanent' | 'gone' | 'throttled'

/** Where the time of one attempt went. Absent parts did not happen (a reused connection has no `connectMs`). */
export interface AttemptTimings {
  dnsMs?: number
  connectMs?: number
  tlsMs?: number
  firstByteMs?: number
  totalMs: number
}

/** The request as it was rendered, kept with a failed attempt. Bounded, and secrets are redacted before it gets here. */
export interface RenderedRequest {
  method: string
  url: string
  headers: Record<string, string>
  body: string
  isTruncated: boolean
}

/** What the receiver answered, bounded by the endpoint's `maxResponseBytes`. */
export interface ResponseExcerpt {
  status: number
  headers: Record<string, string>
  body: string
  isTruncated: boolean
}

export interface AttemptError {
  /** Stable and lower-case, e.g. `connect_refused`, `timeout`, `http_status`, `handler_error`. */
  code: string
  message: string
  /** What the system or the TLS library called it, e.g. `CERT_HAS_EXPIRED`; to explain it, not to decide by it. */
  systemCode?: string
}

/** The outcome of one attempt: a result, never an exception, because failing receivers are expected. */
export interface AttemptOutcome {
  class: AttemptClass
  /** Counts against the circuit: the receiver is unwell (network, timeout, 5xx). A bad payload never sets it. */
  isHealthFailure: boolean
  durationMs: number
  statusCode?: number
  error?: AttemptError
  /** What a `Retry-After` header asked for, already parsed and capped. */
  retryAfterMs?: number
  timings?: AttemptTimings
  request?: RenderedRequest
  response?: ResponseExcerpt
  /** Nothing was sent, and that says nothing about the receiver: the message itself has no shape (`refused`), or its route skips such messages. */
  unsent?: 'refused' | 'skipped'
}
