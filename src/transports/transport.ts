import type { AttemptOutcome, RenderedRequest } from '../core/attempt.ts'

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
  /** Set for a synchronous `request()`, whose caller chooses more than a delivery may. Transports may ignore it. */
  readonly call?: DirectCall
}

/** What the caller of a synchronous `request()` may choose for one call. */
export interface DirectCall {
  /** Appended to the path of the endpoint's URL; it can't leave the endpoint's origin. */
  readonly path?: string
  readonly method?: string
  /** Keep the answer whatever the endpoint's `capture` says, because the caller wants to read it. */
  readonly isResponseWanted?: boolean
}

/**
 * A channel to one endpoint, opened once per lane and used for each of its attempts.
 * `send` never rejects: whatever happens is an outcome. After `signal` aborts it settles at once, its sockets destroyed.
 * Pass the same signal to every send where you can: a channel keeps one listener a signal, not one a call.
 * `close` refuses new sends, waits for those in flight (each ends at its own deadline; abort their signals to hurry)
 * and then lets go of every socket. It is safe to call twice.
 */
export interface TransportChannel {
  send(dispatch: Dispatch, signal: AbortSignal): Promise<AttemptOutcome>
  close(): Promise<void>
}

export interface ChannelLimits {
  /** Sends that the lane may have in flight at once: as many connections are worth keeping. */
  readonly maxConcurrency?: number
}

/**
 * A way to reach endpoints. `parseConfig` and `open` throw a ZodError for a config that they can't serve;
 * `open` takes the config as it is stored or as `parseConfig` returned it.
 */
export interface Transport {
  readonly name: string
  parseConfig(config: unknown): unknown
  open(endpoint: string, config: unknown, limits?: ChannelLimits): TransportChannel
  /** The request that would be sent, secrets redacted, for transports that have one. Nothing is sent. */
  describe?(config: unknown, dispatch: Dispatch): RenderedRequest
}
