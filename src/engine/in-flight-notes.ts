import type { Database } from '../storage/database.ts'
import { type InFlight, noteInFlight } from '../storage/in-flight.ts'

export interface InFlightNotesOptions {
  readonly database: Database
  readonly incarnation: () => number
  /** Returns up to this many deliveries in flight. */
  readonly list: (maxEntries: number) => readonly InFlight[]
  readonly report: (error: unknown) => void
}

/** Attempts that end within this time need no note: most do. */
const leadMs = 10
const intervalMs = 250
/** 32 KiB. If more are in flight, the rest has no note. */
const maxNoted = 4096

/**
 * Records which deliveries are in flight, so that the node that recovers them from a dead process can say which attempts were interrupted. One row, at most four times a
 * second and only while attempts are in flight: attempts that started in the last quarter of a second before the crash are not known.
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
      // Before the write: it may be stored though its answer is lost.
      this.#hasNoted = true
      await noteInFlight(database, incarnation(), entries)
      this.#hasNoted = entries.length > 0
    } catch (error) {
      report(error)
    }
    this.#writtenAtMs = performance.now()
    // If attempts started during the write, they are written next. If all have ended, the stored list is replaced by an empty one.
    if (this.#hasNoted || list(1).length > 0) this.#arm(intervalMs)
  }
}
