import type { AttemptOutcome } from '../core/attempt.ts'
import type { Delivery } from './delivery.ts'

/** What the engine tells whoever watches it: metrics, traces, tests. Called synchronously; it must not throw or wait. */
export interface NodeObserver {
  attempted(delivery: Delivery, outcome: AttemptOutcome): void
  settled(count: number): void
  shardsTaken(shards: readonly number[], from: number): void
  shardsReleased(shards: readonly number[]): void
  fenced(): void
  resumed(): void
}

export const silentObserver: NodeObserver = {
  attempted() {},
  settled() {},
  shardsTaken() {},
  shardsReleased() {},
  fenced() {},
  resumed() {},
}
