/** What a handler receives: one message, on one attempt. */
export interface HandlerMessage {
  /** `msg_…`, the same over every retry: dedupe on it. */
  readonly id: string
  /** `dlv_…` */
  readonly deliveryId: string
  readonly type: string | null
  /** The body, parsed on first access. */
  readonly payload: unknown
  /** The body exactly as it was published. */
  readonly body: string
  readonly headers: Readonly<Record<string, string>>
  /** Starts at 1. */
  readonly attempt: number
  readonly correlationId: string | null
  /** Aborted when the handler's deadline passes or the node stops; created on first access. */
  readonly signal: AbortSignal
}

/** Returning is success, throwing is failure; the returned value is ignored. */
export type Handler = (message: HandlerMessage) => unknown

/**
 * Thrown by a handler: this message can't succeed and must not be retried.
 *
 * @example
 * throw new PermanentError('order 17 does not exist')
 */
export class PermanentError extends Error {
  override readonly name = 'PermanentError'
}

/**
 * Thrown by a handler: hold the endpoint and try again after this many milliseconds.
 *
 * @example
 * throw new RetryAfterError(30_000, 'the mail provider is throttling us')
 */
export class RetryAfterError extends Error {
  override readonly name = 'RetryAfterError'
  readonly retryAfterMs: number

  constructor(retryAfterMs: number, message = `try again in ${retryAfterMs} ms`, options?: ErrorOptions) {
    super(message, options)
    this.retryAfterMs = retryAfterMs
  }
}
