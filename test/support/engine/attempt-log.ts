import type { AttemptOutcome } from '../../../src/core/delivery/attempt.ts'
import type { Delivery } from '../../../src/engine/delivery.ts'
import type { NodeObserver } from '../../../src/engine/observer.ts'

export interface LoggedAttempt {
  readonly endpoint: string
  readonly messageId: string
  readonly attempt: number
  readonly isProbe: boolean
  readonly outcome: AttemptOutcome
  readonly atMs: number
}

/** Hears of every attempt and every commit of a node, so that tests wait for what happens instead of for time. */
export class AttemptLog implements NodeObserver {
  readonly attempts: LoggedAttempt[] = []
  readonly taken: { readonly shards: readonly number[]; readonly from: number }[] = []
  settledCount = 0
  releasedShards = 0
  /** The circuits that have changed, as the node last saw them. */
  readonly circuits = new Map<string, 'closed' | 'half_open' | 'open'>()
  /** 1 while the node has fenced itself. */
  fencedCount = 0
  #waiters: { readonly isMet: () => boolean; readonly resolve: () => void }[] = []

  attempted(delivery: Delivery, outcome: AttemptOutcome): void {
    this.attempts.push({
      endpoint: delivery.endpoint,
      messageId: delivery.messageId,
      attempt: delivery.attempt,
      isProbe: delivery.probeToken !== null,
      outcome,
      atMs: performance.now(),
    })
    this.#wake()
  }

  settled(count: number): void {
    this.settledCount += count
    this.#wake()
  }

  shardsTaken(shards: readonly number[], from: number): void {
    this.taken.push({ shards, from })
    this.#wake()
  }

  shardsReleased(shards: readonly number[]): void {
    this.releasedShards += shards.length
    this.#wake()
  }

  fenced(): void {
    this.fencedCount += 1
  }

  resumed(): void {
    this.fencedCount -= 1
  }

  circuitChanged(endpoint: string, to: 'closed' | 'half_open' | 'open'): void {
    this.circuits.set(endpoint, to)
    this.#wake()
  }

  of(endpoint: string): LoggedAttempt[] {
    return this.attempts.filter((attempt) => attempt.endpoint === endpoint)
  }

  /** Resolves when the endpoint has been tried so often. */
  async waitForAttempts(endpoint: string, count: number, timeoutMs = 10_000): Promise<LoggedAttempt[]> {
    await this.waitUntil(
      () => this.of(endpoint).length >= count,
      () => `${count} attempts at ${endpoint}; there were ${this.of(endpoint).length}`,
      timeoutMs,
    )
    return this.of(endpoint)
  }

  async waitUntil(isMet: () => boolean, what: () => string, timeoutMs = 10_000): Promise<void> {
    if (isMet()) return
    await new Promise<void>((resolve, reject) => {
      const waiter = {
        isMet,
        resolve: () => {
          clearTimeout(timer)
          resolve()
        },
      }
      const timer = setTimeout(() => {
        this.#waiters = this.#waiters.filter((other) => other !== waiter)
        reject(new Error(`waited ${timeoutMs} ms for ${what()}`))
      }, timeoutMs)
      this.#waiters.push(waiter)
    })
  }

  #wake(): void {
    this.#waiters = this.#waiters.filter((waiter) => {
      if (!waiter.isMet()) return true
      waiter.resolve()
      return false
    })
  }
}
