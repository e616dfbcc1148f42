import type { DatabaseServer } from '../harness/database-server.ts'
import { median } from '../harness/statistics.ts'
import type { Curve, Measured, PointResult } from './curve.ts'
import { measurePoint } from './measure-point.ts'
import type { GrowthOptions } from './options.ts'

/** Measures every point once, then every point again, so that noise of a shared machine affects all points. */
export async function runCurve(
  curve: Curve,
  options: GrowthOptions,
  server: DatabaseServer,
  templateUrl: string,
  signal: AbortSignal,
): Promise<PointResult[]> {
  const xs = options.isQuick ? curve.points.quick : curve.points.full
  const rounds = options.rounds ?? (options.isQuick ? 1 : curve.rounds)
  const measured = new Map<number, Measured[]>(xs.map((x) => [x, []]))
  const failures = new Map<number, string[]>(xs.map((x) => [x, []]))
  for (let round = 0; round < rounds; round++) {
    for (const x of xs) {
      if (signal.aborted) break
      const databaseUrl = await server.createDatabase(templateUrl)
      const startedMs = performance.now()
      try {
        const { warmUpMs, windowMs } = options
        const context = { databaseUrl, x, warmUpMs, windowMs }
        const reply = await measurePoint({ curve: curve.name, context }, curve.timeoutMs, signal)
        const seconds = ((performance.now() - startedMs) / 1000).toFixed(1)
        const label = `${curve.name} ${curve.formatX(x)}, round ${round + 1}/${rounds}, ${seconds} s: `
        if (reply.kind === 'measured') measured.get(x)?.push(reply.measured)
        else failures.get(x)?.push(reply.reason)
        report(label + (reply.kind === 'measured' ? describe(reply.measured) : `failed: ${reply.reason}`))
      } finally {
        await server.dropDatabase(databaseUrl)
      }
    }
  }
  return xs.map((x) => summarise(x, measured.get(x) ?? [], failures.get(x) ?? []))
}

function summarise(x: number, measured: readonly Measured[], failures: readonly string[]): PointResult {
  const rounds = measured.map(({ values }) => values)
  const keys = Object.keys(rounds[0] ?? {})
  const values = Object.fromEntries(
    keys.map((key) => [key, median(rounds.map((each) => each[key] ?? Number.NaN))]),
  )
  return { x, values, rounds, statements: measured[0]?.statements ?? [], failures }
}

function describe({ values }: Measured): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${Number(value.toPrecision(4))}`)
    .join(', ')
}

function report(line: string): void {
  process.stderr.write(`${line}\n`)
}
