/** The clocks that the engine uses. Tests pass their own. */
export interface Clock {
  /** Never steps back or forwards; used for liveness and durations. */
  monotonicMs(): number
}

export const systemClock: Clock = { monotonicMs: () => performance.now() }

/** Maximum error of the estimated database time: half a round trip. Heartbeats that take longer than three seconds are ignored. */
export const maxClockErrorMs = 1500

/**
 * The database's time, advanced by the monotonic clock between two readings: due times are in database time,
 * and a step of this machine's wall clock changes nothing.
 */
export class DatabaseClock {
  readonly #clock: Clock
  #databaseMs = 0
  #readAtMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /**
   * Sets the database's time as of the middle between sending and receiving, the best estimate. Returns whether the database's clock
   * has stepped back: it was corrected, or another server has taken over.
   */
  sync(databaseMs: number, sentAtMs: number, receivedAtMs: number): boolean {
    const expectedMs = this.nowMs()
    this.#databaseMs = databaseMs
    this.#readAtMs = (sentAtMs + receivedAtMs) / 2
    return this.nowMs() < expectedMs - maxClockErrorMs
  }

  nowMs(): number {
    return this.#databaseMs + (this.#clock.monotonicMs() - this.#readAtMs)
  }
}
