import { appendFileSync } from 'node:fs'
import type { TestCase } from 'vitest/node'
import type { Reporter } from 'vitest/reporters'

/** Names the tests that passed at their second try only, and why the first failed: on a busy machine that may be, but such a test is a bug as well. */
export default class SecondTries implements Reporter {
  readonly #lines: string[] = []

  onTestCaseResult(test: TestCase): void {
    if (test.diagnostic()?.flaky !== true) return
    const reasons = (test.result().errors ?? []).map(
      ({ message, stacks }) =>
        `     ${message.slice(0, 600)} (${stacks?.[0]?.file.split('/').at(-1)}:${stacks?.[0]?.line})\n`,
    )
    this.#lines.push(
      `── passed at its second try only: ${test.module.relativeModuleId} > ${test.fullName}\n${reasons.join('')}`,
    )
  }

  onTestRunEnd(): void {
    const text = this.#lines.join('')
    process.stdout.write(text)
    // For whoever prints them again behind everything else.
    const file = process.env['SECOND_TRIES_FILE']
    if (file !== undefined) appendFileSync(file, text)
  }
}
