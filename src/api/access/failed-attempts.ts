/** Failures allowed within `windowMs` before an address has to wait. */
const maxFailures = 10
const windowMs = 60_000
const maxAddresses = 10_000

interface Tally {
  failures: number
  readonly endsAtMs: number
}

/** Counts wrong keys per address, to limit the rate of guessing. Bounded: with too many addresses the oldest are dropped. */
export class FailedAttempts {
  readonly #tallies = new Map<string, Tally>()
  readonly #nowMs: () => number

  constructor(nowMs: () => number = () => performance.now()) {
    this.#nowMs = nowMs
  }

  /** How long this address has to wait; 0 if not at all. */
  waitMs(address: string): number {
    const tally = this.#current(address)
    return tally === undefined || tally.failures < maxFailures ? 0 : tally.endsAtMs - this.#nowMs()
  }

  record(address: string): void {
    const tally = this.#current(address)
    if (tally !== undefined) {
      tally.failures += 1
      return
    }
    const oldest = this.#tallies.keys().next()
    if (this.#tallies.size >= maxAddresses && oldest.done !== true) this.#tallies.delete(oldest.value)
    this.#tallies.set(address, { failures: 1, endsAtMs: this.#nowMs() + windowMs })
  }

  #current(address: string): Tally | undefined {
    const tally = this.#tallies.get(address)
    if (tally === undefined || tally.endsAtMs > this.#nowMs()) return tally
    this.#tallies.delete(address)
    return undefined
  }
}
