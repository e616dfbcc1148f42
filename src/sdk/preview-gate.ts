import { HoldfastError } from '../core/errors.ts'

const maxRunning = 2
const maxWaiting = 16

/** Lets few previews run at a time: whoever may look at routes may ask for them, and each may take seconds of a processor. */
export class PreviewGate {
  #runningCount = 0
  readonly #waiting: (() => void)[] = []

  async run<Result>(preview: () => Promise<Result>): Promise<Result> {
    if (this.#runningCount >= maxRunning) {
      if (this.#waiting.length >= maxWaiting) throw tooMany()
      // Whoever ends hands its place on.
      await new Promise<void>((resolve) => this.#waiting.push(resolve))
    } else this.#runningCount += 1
    try {
      return await preview()
    } finally {
      const next = this.#waiting.shift()
      if (next === undefined) this.#runningCount -= 1
      else next()
    }
  }
}

function tooMany(): HoldfastError {
  return new HoldfastError(
    'previews_busy',
    `${maxRunning} previews are being made by this process and ${maxWaiting} wait. Try again in a moment.`,
  )
}
