/**
 * One read for everybody who asks at the same time. Who asks while one runs gets the next one, which begins after they asked: nobody sees less than
 * what they have written themselves.
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
