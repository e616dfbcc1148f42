/**
 * Holds whoever passes until it is opened: a test decides when a receiver answers, instead of guessing with sleeps.
 *
 * @example
 * const gate = new Gate()
 * receiver.behave(gated(gate, answer(200)))
 * gate.open()
 */
export class Gate {
  #isOpen = false
  #release: () => void = () => undefined
  readonly #opened: Promise<void>

  constructor() {
    this.#opened = new Promise((resolve) => {
      this.#release = resolve
    })
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  open(): void {
    this.#isOpen = true
    this.#release()
  }

  async passed(): Promise<void> {
    await this.#opened
  }
}
