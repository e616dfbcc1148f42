import { HoldfastError } from '../core/errors.ts'

const maxRunning = 2
const maxWaiting = 16

/** Limits concurrent previews: every viewer may request them, and each may use seconds of CPU time. */
export class PreviewGate {
  #runningCount = 0
  readonly #waiting: (() => void)[] = []

  async run<Result>(preview: () => Promise<Result>): Promise<Result> {
    if (this.#runningCount >= maxRunning) {
      if (this.#waiting.length >= maxWaiting) throw tooMany()
      // A finished preview passes its slot to the next one.
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
    `This process is already rendering ${maxRunning} previews, and ${maxWaiting} more wait. Try again in a moment.`,
  )
}
