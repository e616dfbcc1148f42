import { setTimeout as wait } from 'node:timers/promises'
import type { Logger } from '../../engine/logger.ts'
import type { BatchEvent } from '../../sdk/messages.ts'
import { demoEvent } from './demo-event.ts'

export interface DemoTrafficOptions {
  publish(events: readonly BatchEvent[]): Promise<unknown>
  readonly logger: Logger
}

export const demoEventsPerSecond = 5
/** Published at the start, so that open circuits and dead letters appear at once. */
const firstEvents = 20

/** Publishes five events of a shop per second until it is stopped. */
export class DemoTraffic {
  readonly #options: DemoTrafficOptions
  readonly #stopping = new AbortController()
  #next = 0
  #isFailing = false
  #running: Promise<void> | null = null

  constructor(options: DemoTrafficOptions) {
    this.#options = options
  }

  start(): void {
    this.#running ??= this.#run(this.#stopping.signal)
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    await this.#running
  }

  async #run(signal: AbortSignal): Promise<void> {
    let count = firstEvents
    while (!signal.aborted) {
      await this.#publish(count)
      count = 1
      await wait(1000 / demoEventsPerSecond, undefined, { signal }).catch(() => {})
    }
  }

  /** An unavailable database or a full queue is expected: it is logged once, and the next events try again. */
  async #publish(count: number): Promise<void> {
    const nowMs = Date.now()
    const events = Array.from({ length: count }, (_, offset) => demoEvent(this.#next + offset, nowMs))
    try {
      await this.#options.publish(events)
      this.#next += count
      this.#isFailing = false
    } catch (error) {
      if (!this.#isFailing) this.#options.logger.warn({ error: String(error) }, "The demo can't publish")
      this.#isFailing = true
    }
  }
}
