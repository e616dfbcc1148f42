import type { TestCase } from 'vitest/node'
import type { Reporter } from 'vitest/reporters'
import { brokerUrl, wantedBrokerUrl } from './amqp/broker.ts'

/** Without a broker, names the files whose tests were skipped, with how many. */
export default class SkippedTests implements Reporter {
  readonly #byFile = new Map<string, number>()

  onTestCaseResult(test: TestCase): void {
    // Those that a filter leaves out have this mode too, and then nobody asked for them.
    if (test.result().state !== 'skipped' || test.options.mode !== 'skip') return
    const file = test.module.relativeModuleId
    this.#byFile.set(file, (this.#byFile.get(file) ?? 0) + 1)
  }

  onTestRunEnd(): void {
    if (brokerUrl !== null || this.#byFile.size === 0) return
    const files = [...this.#byFile].map(([file, tests]) => `   ${file}: ${tests}\n`)
    process.stdout.write(
      `── no RabbitMQ answers at ${wantedBrokerUrl} (HOLDFAST_TEST_AMQP_URL); skipped tests by file:\n${files.join('')}`,
    )
  }
}
