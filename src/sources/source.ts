import type { Problem } from '../core/problem.ts'
import type { SecretPath, ShownPart } from '../secrets/endpoint-secrets.ts'

/** One received message that is not acknowledged yet. */
export interface SourceMessage {
  /** The sender's id of the message; null: it has none, so that a redelivery can't be distinguished from a new message. */
  readonly messageId: string | null
  readonly correlationId: string | null
  readonly body: Buffer
  /** Values that templates can use beside the body, as JSON; stored with a rejected message. */
  readonly fields: Readonly<Record<string, unknown>>
  /** Identifies the message on its connection; increases. */
  readonly receipt: number
}

export interface SourceListener {
  /** The connection is open, and messages will arrive. */
  onOpen(): void
  onMessage(message: SourceMessage): void
  /** Called once, for whatever reason. Unacknowledged messages return to the broker. */
  onClosed(failure: SourceFailure): void
}

/** Why a connection failed, as a message for operators. */
export interface SourceFailure {
  readonly code: string
  readonly message: string
}

/** A receiving connection. It never reconnects by itself. */
export interface SourceConnection {
  /** Reports to the listener; never throws. */
  start(): void
  /** Acknowledges this message and all before it: they are stored. */
  acknowledge(message: SourceMessage): void
  /** Safe to call twice. */
  close(): Promise<void>
}

export type OpenSource = (source: string, config: unknown, listener: SourceListener) => SourceConnection

/**
 * A type of source. `parseConfig` validates a user's config, in which a mark (`{ isSet: true }`) may stand for a stored secret, and returns it with
 * its defaults; `load` loads the implementation, and rejects with what to install.
 */
export interface SourceType {
  readonly name: string
  parseConfig(config: unknown): Readonly<Record<string, unknown>>
  /** Why this process can't use a config, such as an address that it may not reach. Makes no connection. */
  refuse(config: unknown): readonly Problem[]
  /** The paths of the secrets in this config. They are stored encrypted. */
  secretPaths(config: Readonly<Record<string, unknown>>): readonly SecretPath[]
  /** The part of a secret that may be shown, if it isn't hidden completely. */
  readonly shownPart: ShownPart
  load(): Promise<OpenSource>
}
