import type { AttemptOutcome } from '../core/delivery/attempt.ts'
import type { Delivery } from './delivery.ts'
import type { NodeObserver } from './observer.ts'

/** One attempt, as somebody who follows the traffic sees it. */
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
  /** Hands on what was seen, as one notification. */
  publish(payload: string): Promise<void>
}

const flushMs = 250
const maxAttemptsPerFlush = 20
/** PostgreSQL takes less than 8,000 a notification. */
const maxPayloadBytes = 7900
const maxErrorLength = 120
const maxWantedMs = 60_000

/**
 * Tells what this node attempts to whoever follows live traffic. While nobody does, it costs one comparison an attempt; while somebody does,
 * a sample of at most eighty attempts a second and the number of those left out.
 */
export class Tail implements Partial<NodeObserver> {
  readonly #options: TailOptions
  #wantedUntilMs = 0
  #seen: TailedAttempt[] = []
  #leftOut = 0
  #timer: NodeJS.Timeout | null = null

  constructor(options: TailOptions) {
    this.#options = options
  }

  /** Somebody follows, for so long unless they say so again. */
  wanted(forMs: number): void {
    if (!(forMs > 0)) return
    this.#wantedUntilMs = performance.now() + Math.min(forMs, maxWantedMs)
  }

  attempted(delivery: Delivery, outcome: AttemptOutcome, nowMs: number): void {
    if (this.#wantedUntilMs === 0) return
    if (this.#wantedUntilMs < performance.now()) {
      this.#wantedUntilMs = 0
      return
    }
    if (this.#seen.length >= maxAttemptsPerFlush) this.#leftOut += 1
    else this.#seen.push(toTailed(delivery, outcome, nowMs))
    this.#timer ??= setTimeout(() => this.#flush(), flushMs).unref()
  }

  stop(): void {
    this.#wantedUntilMs = 0
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  #flush(): void {
    this.#timer = null
    let payload = this.#write()
    while (Buffer.byteLength(payload) > maxPayloadBytes && this.#seen.pop() !== undefined) {
      this.#leftOut += 1
      payload = this.#write()
    }
    this.#seen = []
    this.#leftOut = 0
    // Nobody waits for it; whoever follows sees a gap when the database is away.
    this.#options.publish(payload).catch(() => {})
  }

  #write(): string {
    return JSON.stringify({ attempts: this.#seen, leftOut: this.#leftOut })
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
