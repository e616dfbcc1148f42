import type { Problem } from '../core/problem.ts'
import type { SecretPath, ShownPart } from '../secrets/endpoint-secrets.ts'

/** One message that was received and is not acknowledged yet. */
export interface SourceMessage {
  /** What the sender calls it; null: nothing, so that a redelivery can't be told from a new message. */
  readonly messageId: string | null
  readonly correlationId: string | null
  readonly body: Buffer
  /** What templates can name beside the body, as JSON has it; kept with a message that is rejected. */
  readonly fields: Readonly<Record<string, unknown>>
  /** How its connection recognises it. Counts up. */
  readonly receipt: number
}

export interface SourceListener {
  /** Messages arrive from now on. */
  onOpen(): void
  onMessage(message: SourceMessage): void
  /** Once, for whatever reason. What is unacknowledged returns to where it came from. */
  onClosed(failure: SourceFailure): void
}

/** Why a connection failed, in words for a person. */
export interface SourceFailure {
  readonly code: string
  readonly message: string
}

/** A connection that receives. It never connects again by itself. */
export interface SourceConnection {
  /** Reports by the listener; never throws. */
  start(): void
  /** This message and all before it are stored. */
  acknowledge(message: SourceMessage): void
  /** Safe to call twice. */
  close(): Promise<void>
}

export type OpenSource = (source: string, config: unknown, listener: SourceListener) => SourceConnection

/**
 * A kind of place that messages come from. `parseConfig` checks what a person wrote, where a secret that is stored already may be a mark
 * (`{ isSet: true }`), and returns it with its defaults; `load` loads what reads, and rejects with what to install.
 */
export interface SourceType {
  readonly name: string
  parseConfig(config: unknown): Readonly<Record<string, unknown>>
  /** What is wrong with a config for this process alone, such as an address that it may not reach. Needs no network. */
  refuse(config: unknown): readonly Problem[]
  /** Where the secrets in this config are. They are stored encrypted. */
  secretPaths(config: Readonly<Record<string, unknown>>): readonly SecretPath[]
  /** What may be seen of a secret, when it isn't hidden whole. */
  readonly shownPart: ShownPart
  load(): Promise<OpenSource>
}
