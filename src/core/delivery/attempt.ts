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

/**
 * Where a failure arose before anything was sent. The receiver has no part in it: its circuit, `rejecting` and auto-disable don't hear of it.
 * `schema` and `transform`: the message can't be given its shape. `route`: its route was deleted.
 */
export type UnsentOrigin = 'schema' | 'transform' | 'route'

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
  /** Set when nothing was sent; otherwise the failure is the receiver's, or that of the way to it. */
  origin?: UnsentOrigin
  /** Nothing was sent, because its route skips such messages. */
  isSkipped?: true
}
