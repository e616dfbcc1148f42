import { formatId } from '../core/delivery/ids.ts'
import type { Deletion } from '../storage/endpoints.ts'

/** What became of the deliveries that a deleted endpoint or route still owed. */
export interface Removal {
  /** How many ended as cancelled at once. */
  readonly cancelled: number
  /** The operation that cancels them in the background, when they were many; null when there are none left. */
  readonly operation: string | null
}

export function toRemoval({ cancelled, operation }: Deletion): Removal {
  return { cancelled, operation: operation === null ? null : formatId('op', operation) }
}
