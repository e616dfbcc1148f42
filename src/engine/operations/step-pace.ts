/** Rows of one step while this node has nothing else to do: one transaction, which nobody's pause or cancel should have to wait for long. */
const maxStepRows = 5000
/** So few that planning a step takes longer than doing it. */
const minStepRows = 250
/** A step that is shorter holds up what is delivered beside it by so little that nobody notices. */
const besideLiveMs = 20

/**
 * How large a bulk action's next step is, and how long it rests before. While this node delivers, steps are short and a rest is as long as the step
 * before it: live messages wait for the processor, the disk and the write-ahead log behind half a step at most, on average.
 */
export class StepPace {
  #rows = maxStepRows
  #restMs = 0

  get rows(): number {
    return this.#rows
  }

  get restMs(): number {
    return this.#restMs
  }

  /** A step took so long. `isBusy`: this node delivers. */
  note(tookMs: number, isBusy: boolean): void {
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
