export interface SlotAnnouncerOptions {
  /** Interval of repeating the announcement: another node may have taken over. */
  readonly intervalMs: number
  readonly free: () => number
  /** Resolves when the broker has stored the announcement. */
  readonly announce: (free: number) => Promise<void>
}

/** Announces to the nodes how many runs this worker could start, whenever the number changes; one message at a time. */
export class SlotAnnouncer {
  readonly #options: SlotAnnouncerOptions
  #announced = -1
  #sending: Promise<void> | null = null
  #isScheduled = false
  #isStopped = false
  #timer: NodeJS.Timeout | null = null

  constructor(options: SlotAnnouncerOptions) {
    this.#options = options
  }

  start(): void {
    this.#timer = setInterval(() => this.repeat(), this.#options.intervalMs)
    this.#timer.unref()
    this.repeat()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#timer !== null) clearInterval(this.#timer)
    await this.#sending
  }

  /** Signals that the number may have changed. */
  note(): void {
    if (this.#isScheduled || this.#isStopped || this.#timer === null) return
    this.#isScheduled = true
    // Runs after this turn of the event loop, in which several runs may end.
    setImmediate(() => {
      this.#isScheduled = false
      this.#send()
    })
  }

  /** Announces again, even if the number is the same. */
  repeat(): void {
    this.#announced = -1
    this.note()
  }

  #send(): void {
    if (this.#sending !== null || this.#isStopped) return
    const free = this.#options.free()
    if (free === this.#announced) return
    this.#announced = free
    this.#sending = this.#options
      .announce(free)
      .catch(() => {
        // The next interval announces it.
      })
      .finally(() => {
        this.#sending = null
        this.note()
      })
  }
}
