import type { AttemptOutcome } from '../core/delivery/attempt.ts'
import type { Delivery } from './delivery.ts'
import { LiveSample } from './live-sample.ts'
import type { NodeObserver } from './observer.ts'

/** One attempt, as shown to a follower of live traffic. */
export interface TailedAttempt {
  readonly at: string
  readonly deliveryId: string
  readonly messageId: string
  readonly endpoint: string
  readonly eventType: string | null
  readonly attempt: number
  readonly outcome: string
  readonly statusCode: number | null
  readonly durationMs: number
  readonly error: string | null
}

export interface TailOptions {
  /** Sends the attempts as one notification. */
  readonly publish: (payload: string) => Promise<void>
}

const maxErrorLength = 120

/** Sends this node's attempts to followers of live traffic. */
export class Tail implements Partial<NodeObserver> {
  readonly #sample: LiveSample<TailedAttempt>

  constructor({ publish }: TailOptions) {
    this.#sample = new LiveSample({ publish, write: (attempts, leftOut) => ({ attempts, leftOut }) })
  }

  /** A follower exists; it is assumed for this long unless it asks again. */
  wanted(forMs: number): void {
    this.#sample.wanted(forMs)
  }

  attempted(delivery: Delivery, outcome: AttemptOutcome, nowMs: number): void {
    this.#sample.add(() => toTailed(delivery, outcome, nowMs))
  }

  stop(): void {
    this.#sample.stop()
  }
}

function toTailed(delivery: Delivery, outcome: AttemptOutcome, nowMs: number): TailedAttempt {
  return {
    at: new Date(nowMs).toISOString(),
    deliveryId: delivery.deliveryId,
    messageId: delivery.messageId,
    endpoint: delivery.endpoint,
    eventType: delivery.eventType,
    attempt: delivery.attempt,
    outcome: outcome.class,
    statusCode: outcome.statusCode ?? null,
    durationMs: Math.round(outcome.durationMs),
    error: outcome.error?.message.slice(0, maxErrorLength) ?? null,
  }
}
