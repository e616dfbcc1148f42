/** Rows of one step while this node is idle: one transaction, short enough that a pause or a cancel doesn't wait for long. */
const maxStepRows = 5000
/** Below this number of rows, planning a step takes longer than executing it. */
const minStepRows = 250
/** The first step while this node delivers, when the time per row is not known yet. */
const firstStepRows = 500
/** Target duration of a step while this node delivers: the delay of deliveries isn't noticeable. */
const besideLiveMs = 20

/**
 * The size of a bulk action's next step, and the pause before it. While this node delivers, steps are short and each pause is as long as the previous
 * step: live messages wait for the processor, the disk and the write-ahead log for half a step at most, on average.
 */
export class StepPace {
  #rows = maxStepRows
  #restMs = 0
  /** The last step was executed while this node delivered, so its rate tells how many rows fit. */
  #isMeasured = false

  /** Rows of the next step. `isBusy`: this node is delivering. */
  rows(isBusy: boolean): number {
    if (isBusy && !this.#isMeasured) this.#rows = Math.min(this.#rows, firstStepRows)
    return this.#rows
  }

  get restMs(): number {
    return this.#restMs
  }

  /** Records the duration of a step. `isBusy`: this node is delivering. */
  note(tookMs: number, isBusy: boolean): void {
    this.#isMeasured = isBusy
    if (!isBusy) {
      this.#rows = maxStepRows
      this.#restMs = 0
      return
    }
    const fitting = Math.round((this.#rows * besideLiveMs) / Math.max(tookMs, 1))
    this.#rows = Math.min(maxStepRows, Math.max(minStepRows, Math.min(fitting, 2 * this.#rows)))
    this.#restMs = Math.ceil(tookMs)
  }
}
