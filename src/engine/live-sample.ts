export interface LiveSampleOptions<Entry> {
  /** Sends the entries as one notification. */
  readonly publish: (payload: string) => Promise<void>
  /** Builds the content of a notification. */
  readonly write: (entries: readonly Entry[], leftOut: number) => object
}

const flushMs = 250
const maxEntriesPerFlush = 20
/** PostgreSQL limits a notification to less than 8,000 bytes. */
const maxPayloadBytes = 7900
const maxWantedMs = 60_000

/**
 * Sends a sample of this process's events to followers of live traffic. Without followers it costs one comparison per entry; with followers, it
 * sends at most eighty entries a second and the number of entries left out.
 */
export class LiveSample<Entry> {
  readonly #options: LiveSampleOptions<Entry>
  #wantedUntilMs = 0
  #seen: Entry[] = []
  #leftOut = 0
  #timer: NodeJS.Timeout | null = null

  constructor(options: LiveSampleOptions<Entry>) {
    this.#options = options
  }

  /** A follower exists; it is assumed for this long unless it asks again. */
  wanted(forMs: number): void {
    if (!(forMs > 0)) return
    this.#wantedUntilMs = performance.now() + Math.min(forMs, maxWantedMs)
  }

  /** Whether there is a follower to make an entry for. */
  get isWanted(): boolean {
    if (this.#wantedUntilMs === 0) return false
    if (this.#wantedUntilMs >= performance.now()) return true
    this.#wantedUntilMs = 0
    return false
  }

  add(entry: () => Entry): void {
    if (!this.isWanted) return
    if (this.#seen.length >= maxEntriesPerFlush) this.#leftOut += 1
    else this.#seen.push(entry())
    this.#timer ??= setTimeout(() => this.#flush(), flushMs).unref()
  }

  stop(): void {
    this.#wantedUntilMs = 0
    if (this.#timer !== null) clearTimeout(this.#timer)
  }

  #flush(): void {
    this.#timer = null
    let payload = this.#write()
    while (Buffer.byteLength(payload) > maxPayloadBytes && this.#seen.pop() !== undefined) {
      this.#leftOut += 1
      payload = this.#write()
    }
    this.#seen = []
    this.#leftOut = 0
    // Not awaited; followers see a gap while the database is unavailable.
    this.#options.publish(payload).catch(() => {})
  }

  #write(): string {
    return JSON.stringify(this.#options.write(this.#seen, this.#leftOut))
  }
}
