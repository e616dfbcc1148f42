/** The clocks that the engine uses. Tests pass their own. */
export interface Clock {
  /** Never steps; used for liveness and durations. */
  monotonicMs(): number
}

export const systemClock: Clock = { monotonicMs: () => performance.now() }

/** Maximum error of the estimated database time: half a round trip; a heartbeat that counts takes three seconds at most. */
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
   * The server answered at some time between sending and receiving; the middle is the best estimate. Returns whether its clock has stepped back:
   * it was corrected, or another server has taken over.
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
