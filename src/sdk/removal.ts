import { formatId } from '../core/delivery/ids.ts'
import type { Deletion } from '../storage/endpoints.ts'

/** What happened to the pending deliveries of a deleted endpoint or route. */
export interface Removal {
  /** How many were cancelled at once. */
  readonly cancelled: number
  /** The operation that cancels the rest in the background; null if no deliveries are left. */
  readonly operation: string | null
}

export function toRemoval({ cancelled, operation }: Deletion): Removal {
  return { cancelled, operation: operation === null ? null : formatId('op', operation) }
}
