/** Sends the event byte for byte. */
export interface NoneTransformInput {
  /** Which transform this is. */
  readonly type: 'none'
}

/** JSON with placeholders. */
export interface TemplateTransformInput {
  /** Which transform this is. */
  readonly type: 'template'
  /** A JSON value whose texts have placeholders like `{{ order.id }}`, or the text of such JSON; empty sends the event as it is. */
  readonly template?: unknown
  /** What becomes of a placeholder without value and without default: `error` by default. */
  readonly missing?: 'error' | 'null' | 'omit' | undefined
  /** For batches: a template around the rendered messages, which knows `$items` and `$count`. */
  readonly envelope?: unknown
}

/** Whatever a JSONata expression computes. */
export interface JsonataTransformInput {
  /** Which transform this is. */
  readonly type: 'jsonata'
  /** The expression, 16 KiB at most. The payload is its input. */
  readonly expression: string
  /** How long one evaluation may take, in milliseconds, 100 by default and 5,000 at most. */
  readonly timeoutMs?: number | undefined
  /** True: the expression gets an array of payloads, always, and makes one request of it. */
  readonly batch?: boolean | undefined
}

/** A CloudEvent 1.0. */
export interface CloudeventsTransformInput {
  /** Which transform this is. */
  readonly type: 'cloudevents'
  /** `structured` (default): an envelope in JSON; `binary`: the attributes as `ce-…` headers, the payload as the body. */
  readonly mode?: 'structured' | 'binary' | undefined
  /** A URI or a path; may have placeholders. */
  readonly source: string
  /** May have placeholders; left out when it comes to nothing. */
  readonly subject?: string | undefined
  /** The schema that the payload adheres to; may have placeholders. */
  readonly dataschema?: string | undefined
  /** The `type` for messages that were sent without one. */
  readonly defaultEventType?: string | undefined
  /** Further attributes: names of lower-case letters and digits; texts (with placeholders), whole numbers or booleans. */
  readonly extensions?: Readonly<Record<string, string | number | boolean>> | undefined
}

/** What shape an event gets on its way along a route. */
export type TransformConfigInput =
  | NoneTransformInput
  | TemplateTransformInput
  | JsonataTransformInput
  | CloudeventsTransformInput
