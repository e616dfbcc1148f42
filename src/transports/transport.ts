import type { AttemptOutcome } from '../core/attempt.ts'

/** One message on its way to one endpoint: everything a transport may know about it. */
export interface Dispatch {
  /** `dlv_…`, the same over every attempt. */
  readonly deliveryId: string
  /** `msg_…`; receivers dedupe on it (it travels as `webhook-id`). */
  readonly messageId: string
  readonly endpoint: string
  readonly eventType: string | null
  /** Starts at 1. */
  readonly attempt: number
  readonly correlationId: string | null
  /** The sender's own headers for this message. */
  readonly headers: Readonly<Record<string, string>>
  /** The body as JSON text, exactly as it was handed in. */
  readonly body: string
}

/**
 * A channel to one endpoint, opened once per lane and used for each of its attempts.
 * `send` never rejects: whatever happens is an outcome. After `signal` aborts it settles at once, its sockets destroyed.
 */
export interface TransportChannel {
  send(dispatch: Dispatch, signal: AbortSignal): Promise<AttemptOutcome>
  close(): Promise<void>
}

/** A way to reach endpoints. `parseConfig` throws a ZodError for a config that it can't serve. */
export interface Transport {
  readonly name: string
  parseConfig(config: unknown): unknown
  open(endpoint: string, config: unknown): TransportChannel
}
