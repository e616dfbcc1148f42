/** What one check may cost: half a second in the worst case, when every part fails. A schema and a payload can be fine apart and endless together. */
export const maxCheckSteps = 10_000_000

export class BudgetExceeded extends Error {
  constructor() {
    super(`The check of this payload needs more than ${maxCheckSteps} steps.`)
    this.name = 'BudgetExceeded'
  }
}

/** Counts the steps of the check that is under way. Checks are synchronous, so there is one at a time. */
export class CheckBudget {
  #remaining = 0

  start(): void {
    this.#remaining = maxCheckSteps
  }

  spend(steps: number): void {
    this.#remaining -= steps
    if (this.#remaining < 0) throw new BudgetExceeded()
  }
}
