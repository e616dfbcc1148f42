import { openDatabaseServer } from './harness/database-server.ts'
import { describeEnvironment } from './harness/environment.ts'
import { evaluate } from './harness/evaluate.ts'
import { HELP, type Options, parseOptions } from './harness/options.ts'
import { runRounds } from './harness/run-rounds.ts'
import { renderArms, renderTable } from './report/table.ts'
import { type RunResult, writeResults } from './report/write-results.ts'
import { rows } from './rows/all.ts'

async function bench(options: Options, signal: AbortSignal): Promise<RunResult> {
  const startedAt = new Date().toISOString()
  const server = await openDatabaseServer(options.databaseUrl)
  try {
    const environment = await describeEnvironment(server, options)
    const measurements = await runRounds(options, server, signal)
    const { isQuick, rounds, messages, httpMessages, latencyProbes } = options
    return {
      startedAt,
      isQuick,
      rounds,
      messages,
      httpMessages,
      latencyProbes,
      environment,
      rows: evaluate(options.rows, measurements),
    }
  } finally {
    await server.stop()
  }
}

async function main(): Promise<void> {
  const options = parseOptions(process.argv.slice(2), rows)
  if (options === undefined) {
    process.stdout.write(HELP)
    return
  }
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
  const result = await bench(options, stop.signal)
  if (stop.signal.aborted) {
    process.exitCode = 130
    return
  }
  const report = options.printsJson
    ? JSON.stringify(result, undefined, 2)
    : `${renderTable(result.rows)}\n${renderArms(result.rows)}`
  process.stdout.write(`${report}\n`)
  if (options.writesResults) {
    for (const path of writeResults(result)) process.stderr.write(`wrote ${path}\n`)
  }
  // A missed goal is a finding, not a failure; a sample that failed is one.
  const hasFailures = result.rows.some((row) => row.arms.some((arm) => arm.failures.length > 0))
  process.exitCode = hasFailures ? 1 : 0
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
