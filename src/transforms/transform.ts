/** A stored message as input of a transform. Always the original, never an earlier rendering: a redrive applies the current transform. */
export interface TransformInput {
  /** `msg_…` */
  readonly messageId: string
  readonly deliveryId: string
  readonly eventType: string | null
  readonly tenant: string | null
  readonly correlationId: string | null
  readonly endpoint: string
  readonly attempt: number
  /** When the message was accepted. */
  readonly createdAtMs: number
  /** When this attempt is made. */
  readonly nowMs: number
  readonly headers: Readonly<Record<string, string>>
  readonly metadata: Readonly<Record<string, unknown>> | null
  /** The payload as JSON text, exactly as it was published. */
  readonly body: string
}

/** The request body to send. */
export interface Rendered {
  readonly body: string
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
  /** Separate bodies for the records of the rendering: a receiver may have some of them already. Absent if there is a single record. */
  readonly parts?: () => readonly string[]
}

export interface TransformError {
  /** Stable and lower-case, e.g. `template_missing_value`, `jsonata_timeout`. */
  readonly code: string
  /** What went wrong, where (position, path), and what to do. */
  readonly message: string
  /** In a batch: the index (from 0) of the message that can't be rendered. The others may be sent without it. */
  readonly index?: number
  /** The machine caused the error, not the message: the attempt may be repeated. */
  readonly isRetryable?: boolean
  /** The route is configured to skip such messages. */
  readonly isSkipped?: true
}

/** A failing transform is an expected result: its message becomes a dead letter, without any effect on the lane, the endpoint's health and other messages. */
export type TransformResult =
  | {
      readonly ok: true
      readonly rendered: Rendered
      /** In a batch: the messages that are not part of the rendering, by their `index`. */
      readonly refused?: readonly TransformError[]
      /** In a batch: how many of its messages the rendering contains, from the first; the others would exceed `maxRecords`. Absent: all. */
      readonly taken?: number
    }
  | { readonly ok: false; readonly error: TransformError }

/** A compiled transform: parsed once, applied to many messages. */
export interface CompiledTransform {
  /** The same rendering can be used for every recipient of the message (it doesn't depend on attempt, delivery or time). */
  readonly isCacheable: boolean
  render(input: TransformInput): TransformResult | Promise<TransformResult>
  /**
   * Renders several messages into one envelope, for endpoints with batching. A transform that creates several records per message
   * adds at most `maxRecords`, unless the first message alone has more.
   */
  renderBatch(
    inputs: readonly TransformInput[],
    maxRecords?: number,
  ): TransformResult | Promise<TransformResult>
  close(): Promise<void>
}

/** A type of transform. `compile` throws a `TransformConfigError` with the position of the problem. */
export interface Transform {
  readonly name: string
  /** Paths of the secrets in its configuration: they are stored encrypted, and never shown. */
  readonly secrets?: readonly (readonly string[])[]
  compile(config: unknown): CompiledTransform
}

/** A transform's configuration is invalid. Reported when the transform is created, not when the first event arrives. */
export class TransformConfigError extends Error {
  /** The field of the transform's configuration, e.g. `template`, `expression`. */
  readonly path: string
  /** Offset of the error in that field's text, if known. */
  readonly position: number | null

  constructor(path: string, message: string, position: number | null = null) {
    super(message)
    this.name = 'TransformConfigError'
    this.path = path
    this.position = position
  }
}
