/** Limits the cost of the validations of one call, all its payloads together: half a second in the worst case, when every part fails. */
export const maxCheckSteps = 10_000_000

export class BudgetExceeded extends Error {
  constructor() {
    super(`Checking this payload needs more than ${maxCheckSteps} steps.`)
    this.name = 'BudgetExceeded'
  }
}

/** Counts the steps of one call's validations. A schema and a payload, each harmless, can together take for ever. */
export class CheckBudget {
  #remaining = maxCheckSteps

  spend(steps: number): void {
    this.#remaining -= steps
    if (this.#remaining < 0) throw new BudgetExceeded()
  }
}
