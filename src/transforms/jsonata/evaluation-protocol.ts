/** The result of one evaluation: JSON, or why there is none. */
export type Evaluation =
  | { readonly json: string }
  | {
      readonly code: EvaluationFailure
      readonly message: string
      /** How long a timed-out evaluation used the processor. JSONata measures elapsed time, which includes waiting for a core. */
      readonly usedMs?: number
    }

export type EvaluationFailure =
  | 'jsonata_failed'
  | 'jsonata_timeout'
  | 'jsonata_no_result'
  | 'payload_invalid_json'
  | 'rendered_too_large'

export interface EvaluationItem {
  /** JSON text of the input. */
  readonly payload: string
  readonly variables: Readonly<Record<string, unknown>>
}

/** One expression and the messages to evaluate it for. */
export interface EvaluationRequest {
  readonly expression: string
  readonly timeoutMs: number
  /** After this time the remaining items are returned, so that other expressions get their turn. */
  readonly turnMs: number
  readonly items: readonly EvaluationItem[]
}

/** Results of the first items, in order; items that had no turn are missing at the end. */
export interface EvaluationResponse {
  readonly evaluations: readonly Evaluation[]
}

export type EvaluationMessage = 'ready' | EvaluationResponse
