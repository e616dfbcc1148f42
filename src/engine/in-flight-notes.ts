import type { Database } from '../storage/database.ts'
import { type InFlight, noteInFlight } from '../storage/in-flight.ts'

export interface InFlightNotesOptions {
  readonly database: Database
  readonly incarnation: () => number
  /** What is in flight, so many at most. */
  readonly list: (maxEntries: number) => readonly InFlight[]
  readonly report: (error: unknown) => void
}

/** What ends within this needs no note: most of what is sent does. */
const leadMs = 10
const intervalMs = 250
/** 32 KiB. Who has more in flight is recovered with a shorter trace. */
const maxNoted = 4096

/**
 * Writes down what is in flight, so that whoever recovers it from a process that died can say which attempts were cut short. One row, at most four times a
 * second and only while something is in flight: what began in the last quarter of a second before the death isn't known.
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

  /** Something has begun that didn't end at once. */
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
      await noteInFlight(database, incarnation(), entries)
      this.#hasNoted = entries.length > 0
    } catch (error) {
      report(error)
    }
    this.#writtenAtMs = performance.now()
    // Also what has begun while this was written.
    if (list(1).length > 0) this.#arm(intervalMs)
  }
}
