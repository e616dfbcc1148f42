/** The clocks that the engine reads. A test passes its own. */
export interface Clock {
  /** Never steps; liveness and durations are measured with it. */
  monotonicMs(): number
}

export const systemClock: Clock = { monotonicMs: () => performance.now() }

/** How far our idea of the database's time may be off: half a round trip, of which a beat that counts takes three seconds at most. */
export const maxClockErrorMs = 1500

/**
 * The database's time, carried forward by the monotonic clock between two looks at it: due times are the database's business,
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
   * The server answered somewhere between sending and receiving; half way is the best guess. Returns whether its clock has stepped back:
   * it was set right, or another server has taken its place.
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
