import type { Problem } from '../core/problem.ts'

/** Requests to the thread: parse a schema, or validate the payloads of one call. All as JSON text. */
export type CheckRequest =
  | { readonly kind: 'schema'; readonly schema: string }
  | { readonly kind: 'payloads'; readonly items: readonly CheckText[] }

export interface CheckText {
  readonly schema: string
  readonly body: string
}

export type CheckReply =
  | { readonly kind: 'ok' }
  /** `index`: the position of the item; -1 if the schema is wrong. */
  | {
      readonly kind: 'failed'
      readonly index: number
      readonly code: 'schema_violation' | 'schema_too_costly' | 'schema_invalid'
      readonly failures: readonly Problem[]
    }
