/** A stored message as a transform sees it. The original, never an earlier rendering: a mended transform works on redrive. */
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
  /** The payload as JSON text, exactly as it was handed in. */
  readonly body: string
}

/** What will be sent. */
export interface Rendered {
  readonly body: string
  readonly contentType: string
  readonly headers: Readonly<Record<string, string>>
}

export interface TransformError {
  /** Stable and lower-case, e.g. `template_missing_value`, `jsonata_timeout`. */
  readonly code: string
  /** What went wrong, where (position, path), and what to do. */
  readonly message: string
  /** In a batch: which of its messages can't be rendered (from 0). The others may go on without it. */
  readonly index?: number
  /** The machine's fault and not the message's: the attempt may be made again. */
  readonly isRetryable?: boolean
  /** The route says that such messages are skipped. */
  readonly isSkipped?: true
}

/** A failing transform is an expected result: its message becomes a dead letter, and the lane, the endpoint's health and the other messages don't notice. */
export type TransformResult =
  /** `refused`: of a batch, the messages that have no part in what was rendered, by their `index`. */
  | { readonly ok: true; readonly rendered: Rendered; readonly refused?: readonly TransformError[] }
  | { readonly ok: false; readonly error: TransformError }

/** A transform made ready for use: parsed once, applied to many messages. */
export interface CompiledTransform {
  /** The same rendering serves every recipient of the message (it doesn't look at attempt, delivery or time). */
  readonly isCacheable: boolean
  render(input: TransformInput): TransformResult | Promise<TransformResult>
  /** Many messages in one envelope, for endpoints that take batches. */
  renderBatch(inputs: readonly TransformInput[]): TransformResult | Promise<TransformResult>
  close(): Promise<void>
}

/** A kind of transform. `compile` throws a `TransformConfigError` that names the position of what is wrong. */
export interface Transform {
  readonly name: string
  /** Where in its configuration secrets are: they are kept encrypted, and never shown. */
  readonly secrets?: readonly (readonly string[])[]
  compile(config: unknown): CompiledTransform
}

/** A transform that can't be used as it was given. Refused when it is created, not when the first event arrives. */
export class TransformConfigError extends Error {
  /** Where in the transform's configuration, e.g. `template`, `expression`. */
  readonly path: string
  /** Offset of the error in that text, when it has one. */
  readonly position: number | null

  constructor(path: string, message: string, position: number | null = null) {
    super(message)
    this.name = 'TransformConfigError'
    this.path = path
    this.position = position
  }
}
