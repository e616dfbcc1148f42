/** A limited number of places: work that finds them taken waits in line, first come, first served. */
export class Places {
  #free: number
  readonly #line: (() => void)[] = []

  constructor(count: number) {
    this.#free = count
  }

  /** Runs `work` when a place is free. If the signal is aborted while it waits, rejects with its reason, and `work` never runs. */
  async use<Result>(work: () => Promise<Result>, signal: AbortSignal): Promise<Result> {
    await this.#take(signal)
    try {
      return await work()
    } finally {
      this.#leave()
    }
  }

  async #take(signal: AbortSignal): Promise<void> {
    if (this.#free > 0) {
      this.#free -= 1
      return
    }
    await new Promise<void>((resolve, reject) => {
      const enter = () => {
        signal.removeEventListener('abort', giveUp)
        resolve()
      }
      const giveUp = () => {
        this.#line.splice(this.#line.indexOf(enter), 1)
        reject(signal.reason as Error)
      }
      signal.addEventListener('abort', giveUp, { once: true })
      this.#line.push(enter)
    })
  }

  /** The place goes to the next in line, if there is one. */
  #leave(): void {
    const next = this.#line.shift()
    if (next === undefined) this.#free += 1
    else next()
  }
}
