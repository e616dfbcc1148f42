/** How one attempt at a delivery ended. The retry policy, the circuit breaker and the dead letters all decide by this value. */
export type AttemptClass = 'success' | 'retryable' | 'permanent' | 'gone' | 'throttled'

/** The timings of one attempt. Absent parts did not happen (a reused connection has no `connectMs`). */
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
  /** The code of the system or the TLS library, e.g. `CERT_HAS_EXPIRED`; used in explanations, not in decisions. */
  systemCode?: string
  /** The endpoint's access token could not be fetched, so nothing was sent to the receiver; used in explanations, not in decisions. */
  isTokenMissing?: true
}

/**
 * Where a failure occurred before anything was sent. The receiver isn't the cause: it counts neither for its circuit nor for `rejecting` and auto-disable.
 * `schema` and `transform`: the message can't be rendered. `route`: its route was deleted.
 */
export type UnsentOrigin = 'schema' | 'transform' | 'route'

/** The outcome of one attempt: a result, never an exception, because failing receivers are expected. */
export interface AttemptOutcome {
  class: AttemptClass
  /** Counts against the circuit: the receiver is unavailable (network, timeout, 5xx). A bad payload never sets it. */
  isHealthFailure: boolean
  durationMs: number
  statusCode?: number
  error?: AttemptError
  /** The delay of a `Retry-After` header, parsed and capped. */
  retryAfterMs?: number
  timings?: AttemptTimings
  request?: RenderedRequest
  response?: ResponseExcerpt
  /**
   * Of a request with several deliveries: the ids of all of them, in the outcome of the one with the highest id; that one's id, in those of the others.
   * Erasing a message follows it to the other places where the request is stored.
   */
  batch?: string | readonly string[]
  /** Set if nothing was sent; otherwise the failure is the receiver's, or the network's. */
  origin?: UnsentOrigin
  /** Nothing was sent, because the route skips such messages. */
  isSkipped?: true
}
