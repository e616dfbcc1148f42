import type { AttemptOutcome, RenderedRequest } from '../core/delivery/attempt.ts'
import type { Problem } from '../core/problem.ts'
import type { SecretPath, ShownPart } from '../secrets/endpoint-secrets.ts'

/** One message to be sent to one endpoint, with everything that a transport needs. */
export interface Dispatch {
  /** `dlv_…`, the same for every attempt. */
  readonly deliveryId: string
  /** `msg_…`; receivers dedupe on it (it is sent as `webhook-id`). */
  readonly messageId: string
  readonly endpoint: string
  readonly eventType: string | null
  /** Starts at 1. */
  readonly attempt: number
  readonly correlationId: string | null
  /** The sender's own headers for this message. */
  readonly headers: Readonly<Record<string, string>>
  /** The body as JSON text, exactly as it was published or rendered. */
  readonly body: string
  /** Set for a synchronous `request()`, whose caller has more options than a delivery. Transports may ignore it. */
  readonly call?: DirectCall
}

/** Options of the caller of a synchronous `request()`, for one call. */
export interface DirectCall {
  /** Appended to the path of the endpoint's URL; the result stays below that URL. */
  readonly path?: string
  readonly method?: string
  /** Return the response whatever the endpoint's `capture` is, because the caller reads it. */
  readonly isResponseWanted?: boolean
}

/**
 * A channel to one endpoint, opened once per lane and used for each of its attempts.
 * `send` never rejects: every failure is an outcome. After `signal` aborts it settles at once, with its sockets destroyed.
 * Pass the same signal to every send where you can: a channel keeps one listener per signal, not one per call.
 * `close` refuses new sends, waits for those in flight (each ends at its own deadline; abort their signals to end them sooner)
 * and then closes every socket. It is safe to call twice.
 */
export interface TransportChannel {
  /** An immediate result needn't be a promise: a hundred thousand promises a second are measurable. */
  send(dispatch: Dispatch, signal: AbortSignal): AttemptOutcome | Promise<AttemptOutcome>
  close(): Promise<void>
}

export interface ChannelLimits {
  /** Maximum number of sends that the lane has in flight at once: so many connections are worth keeping. */
  readonly maxConcurrency?: number
}

/** A config with secrets, some of which may have just been generated. */
export interface CompletedConfig {
  readonly config: Readonly<Record<string, unknown>>
  /** Generated for this endpoint, to be shown once; null if none was needed. */
  readonly signingSecret: string | null
}

/**
 * A type of endpoint. `parseConfig` validates a config as users write it, where a mark (`{ isSet: true }`) may stand for a stored secret; `open` gets
 * the stored config with its secrets decrypted. Both throw a ZodError for an invalid config.
 */
export interface Transport {
  readonly name: string
  parseConfig(config: unknown): unknown
  open(endpoint: string, config: unknown, limits?: ChannelLimits): TransportChannel
  /** Why this process can't use a config, such as an address that it may not reach. Makes no connection. */
  refuse?(config: unknown): readonly Problem[]
  /** The paths of the secrets in this config. They are stored encrypted, separate from it. */
  secretPaths?(config: Readonly<Record<string, unknown>>): readonly SecretPath[]
  /** The part of a secret of this config that may be shown, if it isn't hidden completely. */
  readonly shownPart?: ShownPart
  /** Adds secrets that Holdfast generates, like one for signing, unless they are stored already. */
  completeConfig?(
    config: Readonly<Record<string, unknown>>,
    isStored: (field: string) => boolean,
  ): CompletedConfig
  /** The request that would be sent, with secrets redacted, for transports that have requests. Nothing is sent. */
  describe?(config: unknown, dispatch: Dispatch): RenderedRequest
}
