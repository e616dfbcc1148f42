import type { AttemptOutcome, RenderedRequest } from '../core/delivery/attempt.ts'
import type { Problem } from '../core/problem.ts'
import type { SecretPath } from '../secrets/endpoint-secrets.ts'

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
  /** Appended to the path of the endpoint's URL; it can't leave what lies below. */
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
  /** What is decided at once needn't be a promise: a hundred thousand of them a second show. */
  send(dispatch: Dispatch, signal: AbortSignal): AttemptOutcome | Promise<AttemptOutcome>
  close(): Promise<void>
}

export interface ChannelLimits {
  /** Sends that the lane may have in flight at once: as many connections are worth keeping. */
  readonly maxConcurrency?: number
}

/** A config whose secrets may have been made just now. */
export interface CompletedConfig {
  readonly config: Readonly<Record<string, unknown>>
  /** Made for this endpoint, to be shown once; null when none was needed. */
  readonly signingSecret: string | null
}

/**
 * A way to reach endpoints. `parseConfig` checks what a person wrote, where a secret that is stored already may be a mark
 * (`{ isSet: true }`); `open` takes the config as it is stored, its secrets put back. Both throw a ZodError for one that they can't serve.
 */
export interface Transport {
  readonly name: string
  parseConfig(config: unknown): unknown
  open(endpoint: string, config: unknown, limits?: ChannelLimits): TransportChannel
  /** What is wrong with a config for this process alone, such as an address that it may not reach. Needs no network. */
  refuse?(config: unknown): readonly Problem[]
  /** Where the secrets in this config are. They are stored encrypted, apart from it. */
  secretPaths?(config: Readonly<Record<string, unknown>>): readonly SecretPath[]
  /** What may be seen of a secret, when it isn't hidden whole. */
  readonly shownPart?: (field: string, secret: string) => string | null
  /** Adds the secrets that Holdfast makes itself, like one to sign with, unless they are stored already. */
  completeConfig?(
    config: Readonly<Record<string, unknown>>,
    isStored: (field: string) => boolean,
  ): CompletedConfig
  /** The request that would be sent, secrets redacted, for transports that have one. Nothing is sent. */
  describe?(config: unknown, dispatch: Dispatch): RenderedRequest
}
