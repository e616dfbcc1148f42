import type { TestCase } from 'vitest/node'
import type { Reporter } from 'vitest/reporters'

/** Names the tests that passed at their second try only: on a busy machine that may be, but such a test is a bug as well. */
export default class SecondTries implements Reporter {
  readonly #names: string[] = []

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky === true)
      this.#names.push(`${test.module.relativeModuleId} > ${test.fullName}`)
  }

  onTestRunEnd(): void {
    for (const name of this.#names) process.stdout.write(`── passed at its second try only: ${name}\n`)
  }
}
