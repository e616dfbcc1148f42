/**
 * Shares one read among concurrent callers. A call during a running read gets the next read, which starts after the call, so every caller sees its
 * own earlier writes.
 */
export class SharedRead<Result> {
  readonly #read: () => Promise<Result>
  #running: Promise<Result> | null = null
  #next: Promise<Result> | null = null

  constructor(read: () => Promise<Result>) {
    this.#read = read
  }

  get(): Promise<Result> {
    if (this.#running === null) return this.#start()
    this.#next ??= this.#running.then(
      () => this.#start(),
      () => this.#start(),
    )
    return this.#next
  }

  #start(): Promise<Result> {
    this.#next = null
    const running = this.#read().finally(() => {
      if (this.#running === running) this.#running = null
    })
    this.#running = running
    return running
  }
}
