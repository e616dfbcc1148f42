import type { AttemptClass } from '../../core/delivery/attempt.ts'

export interface Refusal {
  readonly class: Exclude<AttemptClass, 'success'>
  readonly isHealthFailure: boolean
  readonly code: string
  /** Follows "POST to host: ". */
  readonly message: string
  readonly isTokenMissing?: true
}

/** Why a request can't be prepared, and what that means for its delivery. */
export class RequestRefused extends Error {
  readonly refusal: Refusal

  constructor(refusal: Refusal) {
    super(refusal.message)
    this.name = 'RequestRefused'
    this.refusal = refusal
  }
}
