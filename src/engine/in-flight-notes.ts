import type { Database } from '../storage/database.ts'
import { type InFlight, noteInFlight } from '../storage/in-flight.ts'

export interface InFlightNotesOptions {
  readonly database: Database
  readonly incarnation: () => number
  /** Returns up to this many deliveries in flight. */
  readonly list: (maxEntries: number) => readonly InFlight[]
  readonly report: (error: unknown) => void
}

/** Attempts that end within this time are not recorded: most do. */
const leadMs = 10
const intervalMs = 250
/** 32 KiB. If more are in flight, the rest are not recorded. */
const maxNoted = 4096

/**
 * Records which deliveries are in flight, so that the node that takes over from a dead process can report which attempts
 * were interrupted. It writes one row, at most four times a second and only while attempts are in flight: attempts that
 * started in the last quarter of a second before the crash are unknown.
 */
export class InFlightNotes {
  readonly #options: InFlightNotesOptions
  #timer: NodeJS.Timeout | null = null
  #writing: Promise<void> | null = null
  #writtenAtMs = Number.NEGATIVE_INFINITY
  #hasNoted = false
  #isStopped = false

  constructor(options: InFlightNotesOptions) {
    this.#options = options
  }

  /** An attempt has started that didn't end immediately. */
  begun(): void {
    if (this.#timer !== null || this.#writing !== null) return
    this.#arm(Math.max(leadMs, this.#writtenAtMs + intervalMs - performance.now()))
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#writing
  }

  #arm(delayMs: number): void {
    if (this.#isStopped) return
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#writing = this.#write().finally(() => {
        this.#writing = null
      })
    }, delayMs)
    this.#timer.unref()
  }

  async #write(): Promise<void> {
    const { database, incarnation, list, report } = this.#options
    const entries = list(maxNoted)
    if (entries.length === 0 && !this.#hasNoted) return
    try {
      // Set before the write, which may be stored although its answer is lost.
      this.#hasNoted = true
      await noteInFlight(database, incarnation(), entries)
      this.#hasNoted = entries.length > 0
    } catch (error) {
      report(error)
    }
    this.#writtenAtMs = performance.now()
    // Attempts that started during the write are written next. If all have ended, an empty list replaces the stored one.
    if (this.#hasNoted || list(1).length > 0) this.#arm(intervalMs)
  }
}
