import type { AttemptOutcome } from '../core/delivery/attempt.ts'
import type { Delivery } from './delivery.ts'

/** How a delivery left the list of what is owed. */
export type DeliveryEnding = 'succeeded' | 'dead' | 'expired' | 'cancelled' | 'dropped' | 'skipped'

/** What the engine tells whoever watches it: metrics, traces, tests. Called synchronously; it must not throw or wait. */
export interface NodeObserver {
  /** `nowMs` in database time. */
  attempted(delivery: Delivery, outcome: AttemptOutcome, nowMs: number): void
  /** Results were committed, so many at once. */
  settled(count: number): void
  shardsTaken(shards: readonly number[], from: number, me: number): void
  shardsReleased(shards: readonly number[]): void
  fenced(): void
  resumed(): void
  /** So many deliveries of one transport came to this end, and it is committed. */
  ended?(ending: DeliveryEnding, transport: string, count: number): void
  circuitChanged?(endpoint: string, to: 'closed' | 'half_open' | 'open'): void
  /** Something was due in this lane, and nobody read it: a defect, which the sweeper found. */
  laneRevived?(endpoint: string): void
  /** So many attempts were in flight at nodes or workers that died, and were recovered here. */
  interrupted?(kind: 'delivery' | 'run', count: number): void
}

/** Tells several. Each may leave out what it doesn't care for. */
export function combineObservers(observers: readonly Partial<NodeObserver>[]): Required<NodeObserver> {
  return {
    attempted(delivery, outcome, nowMs) {
      for (const observer of observers) observer.attempted?.(delivery, outcome, nowMs)
    },
    settled(count) {
      for (const observer of observers) observer.settled?.(count)
    },
    shardsTaken(shards, from, me) {
      for (const observer of observers) observer.shardsTaken?.(shards, from, me)
    },
    shardsReleased(shards) {
      for (const observer of observers) observer.shardsReleased?.(shards)
    },
    fenced() {
      for (const observer of observers) observer.fenced?.()
    },
    resumed() {
      for (const observer of observers) observer.resumed?.()
    },
    ended(ending, transport, count) {
      for (const observer of observers) observer.ended?.(ending, transport, count)
    },
    circuitChanged(endpoint, to) {
      for (const observer of observers) observer.circuitChanged?.(endpoint, to)
    },
    interrupted(kind, count) {
      for (const observer of observers) observer.interrupted?.(kind, count)
    },
    laneRevived(endpoint) {
      for (const observer of observers) observer.laneRevived?.(endpoint)
    },
  }
}
