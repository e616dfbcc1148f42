import type { Lane } from './lane.ts'

/** A bulk action that ends deliveries step by step requests a count after each step: one count a second is enough. */
const pauseMs = 1000

export interface LaneCounterOptions {
  readonly count: (lane: Lane) => Promise<void>
  readonly tolerate: (work: Promise<unknown>) => Promise<void>
}

/** Counts lanes again on request: one count of a lane at a time, then one more for all requests that came meanwhile. */
export class LaneCounter {
  readonly #options: LaneCounterOptions
  /** Lanes being counted, or waiting after a count, and whether another count was requested. */
  readonly #counting = new Map<Lane, boolean>()
  readonly #timers = new Set<NodeJS.Timeout>()
  #isStopped = false

  constructor(options: LaneCounterOptions) {
    this.#options = options
  }

  request(lane: Lane): void {
    if (this.#isStopped) return
    if (this.#counting.has(lane)) {
      this.#counting.set(lane, true)
      return
    }
    this.#counting.set(lane, false)
    void this.#options.tolerate(this.#options.count(lane)).then(() => this.#rest(lane))
  }

  /** Counts in progress end by themselves. */
  stop(): void {
    this.#isStopped = true
    for (const timer of this.#timers) clearTimeout(timer)
  }

  #rest(lane: Lane): void {
    if (this.#isStopped) return
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      const isAskedAgain = this.#counting.get(lane) === true
      this.#counting.delete(lane)
      if (isAskedAgain) this.request(lane)
    }, pauseMs)
    timer.unref()
    this.#timers.add(timer)
  }
}
