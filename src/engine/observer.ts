import type { AttemptOutcome } from '../core/delivery/attempt.ts'
import type { Delivery } from './delivery.ts'

/** How a delivery ended. */
export type DeliveryEnding = 'succeeded' | 'dead' | 'expired' | 'cancelled' | 'dropped' | 'skipped'

/** Events of the engine for metrics, traces and tests. Observers are called synchronously, and must not throw or wait. */
export interface NodeObserver {
  /** `nowMs` in database time. */
  attempted(delivery: Delivery, outcome: AttemptOutcome, nowMs: number): void
  /** This many results were committed together. */
  settled(count: number): void
  shardsTaken(shards: readonly number[], from: number, me: number): void
  shardsReleased(shards: readonly number[]): void
  fenced(): void
  resumed(): void
  /** This many deliveries of one transport ended this way; the endings are committed. */
  ended?(ending: DeliveryEnding, transport: string, count: number): void
  circuitChanged?(endpoint: string, to: 'closed' | 'half_open' | 'open'): void
  /** The sweeper found a delivery of this lane that was due and had not been read: a defect. */
  laneRevived?(endpoint: string): void
  /** This many attempts were in flight on nodes or workers that died, and were recovered here. */
  interrupted?(kind: 'delivery' | 'run', count: number): void
}

/** Calls several observers. Each may leave out methods that it doesn't need. */
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
