import { openDatabaseServer } from '../harness/database-server.ts'
import { describeMachine } from '../harness/environment.ts'
import { curves } from './curves/all.ts'
import { type GrowthOptions, HELP, parseGrowthOptions } from './options.ts'
import { prepareTemplate } from './prepare-database.ts'
import { type CurveResult, readResult, writeResult } from './report/results.ts'
import { renderTable } from './report/table.ts'
import { runCurve } from './run-curve.ts'

/** Enough connections for several nodes and their publisher, and statistics of PostgreSQL's statements. */
const SERVER_SETTINGS = { max_connections: '250', shared_preload_libraries: 'pg_stat_statements' }

async function measure(options: GrowthOptions, signal: AbortSignal): Promise<boolean> {
  const server = await openDatabaseServer(options.databaseUrl, SERVER_SETTINGS)
  let hasFailures = false
  try {
    const templateUrl = await server.createDatabase()
    await prepareTemplate(templateUrl)
    for (const curve of options.curves) {
      if (signal.aborted) break
      const startedAt = new Date().toISOString()
      const points = await runCurve(curve, options, server, templateUrl, signal)
      if (signal.aborted) break
      hasFailures ||= points.some(({ failures }) => failures.length > 0)
      const { isQuick, warmUpMs, windowMs } = options
      const machine = describeMachine(server)
      const result: CurveResult = {
        curve: curve.name,
        startedAt,
        isQuick,
        warmUpMs,
        windowMs,
        machine,
        points,
      }
      // After each curve, so that its results are kept if a later one is stopped.
      show(curve.name, result, options)
    }
  } finally {
    await server.stop()
  }
  return hasFailures
}

function show(name: string, result: CurveResult, { writesResults }: GrowthOptions): void {
  const curve = curves.find((curve) => curve.name === name)
  if (curve === undefined) return
  process.stdout.write(`\n${curve.title}\n\n${renderTable(curve, result.points)}\n`)
  if (!writesResults) return
  for (const path of writeResult(curve, result)) process.stderr.write(`wrote ${path}\n`)
}

async function main(): Promise<void> {
  const options = parseGrowthOptions(process.argv.slice(2), curves)
  if (options === undefined) {
    process.stdout.write(HELP)
    return
  }
  if (options.onlyRenders) {
    for (const { name } of options.curves) show(name, readResult(name, options.isQuick), options)
    return
  }
  const stop = new AbortController()
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.once(name, () => stop.abort())
  const hasFailures = await measure(options, stop.signal)
  process.exitCode = stop.signal.aborted ? 130 : hasFailures ? 1 : 0
}

try {
  await main()
} catch (error) {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`)
  process.exitCode = 1
}
