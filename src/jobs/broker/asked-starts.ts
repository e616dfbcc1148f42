export type StartAnswer = 'started' | 'dropped'

interface Asked {
  readonly claims: Set<number>
  readonly answers: Map<number, StartAnswer>
  readonly done: () => void
}

/** Starts for which the worker waits for a node's answer, by claim. */
export class AskedStarts {
  readonly #open = new Set<Asked>()

  /** Resolves with the answers received within this time, or until `giveUp`. Call it before sending the request. */
  wait(claimIds: readonly number[], withinMs: number): Promise<ReadonlyMap<number, StartAnswer>> {
    return new Promise((resolve) => {
      const answers = new Map<number, StartAnswer>()
      const done = (): void => {
        clearTimeout(timer)
        this.#open.delete(asked)
        resolve(answers)
      }
      const timer = setTimeout(done, withinMs)
      const asked: Asked = { claims: new Set(claimIds), answers, done }
      this.#open.add(asked)
    })
  }

  answer(claimIds: readonly number[], answer: StartAnswer): void {
    for (const asked of this.#open) {
      for (const claimId of claimIds) if (asked.claims.has(claimId)) asked.answers.set(claimId, answer)
      if (asked.answers.size === asked.claims.size) asked.done()
    }
  }

  giveUp(): void {
    for (const asked of this.#open) asked.done()
  }
}
