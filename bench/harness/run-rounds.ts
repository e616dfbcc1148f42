import type { DatabaseServer } from './database-server.ts'
import type { Options } from './options.ts'
import { deleteRedisKeys } from './redis-keys.ts'
import { armsOf, type Row, type Sample } from './row.ts'
import { takeSample } from './take-sample.ts'

/** The results of one arm of one row: a sample for each round, or the reason why there is none. */
export interface ArmSamples {
  samples: (Sample | undefined)[]
  unavailable?: string
  failures: string[]
}

/** By row, then by arm. */
export type Measurements = Map<string, Map<string, ArmSamples>>

interface Turn {
  row: Row
  arm: string
}

/**
 * Takes samples in interleaved rounds: every arm once, then every arm again. Noise of a shared machine then affects all contenders alike, and ratios
 * are taken only within one round.
 */
export async function runRounds(
  options: Options,
  server: DatabaseServer,
  signal: AbortSignal,
): Promise<Measurements> {
  const measurements: Measurements = new Map(options.rows.map((row) => [row.name, new Map()]))
  for (let round = 0; round < options.rounds; round++) {
    for (const row of options.rows) {
      if (round >= (row.maxRounds ?? options.rounds)) continue
      // Each round starts with another contender, so that none always has the same place.
      for (const arm of rotate(chosenArms(row, options), round)) {
        if (signal.aborted) return measurements
        await takeTurn({ row, arm }, round, options, server, measurements, signal)
      }
    }
  }
  return measurements
}

function chosenArms(row: Row, options: Options): string[] {
  return armsOf(row).filter((arm) => options.arms?.includes(arm) ?? true)
}

function rotate<T>(items: readonly T[], by: number): T[] {
  const start = items.length === 0 ? 0 : by % items.length
  return [...items.slice(start), ...items.slice(0, start)]
}

async function takeTurn(
  { row, arm }: Turn,
  round: number,
  options: Options,
  server: DatabaseServer,
  measurements: Measurements,
  signal: AbortSignal,
): Promise<void> {
  const arms = measurements.get(row.name) ?? new Map<string, ArmSamples>()
  const result = arms.get(arm) ?? { samples: [], failures: [] }
  arms.set(arm, result)
  if (result.unavailable !== undefined) return
  const label = `round ${round + 1}/${Math.min(options.rounds, row.maxRounds ?? options.rounds)}  ${row.name}  ${arm}`
  const redisPrefix = `holdfast_bench_${process.pid}`
  const databaseUrl = await server.createDatabase()
  try {
    const context = {
      arm,
      databaseUrl,
      redisUrl: options.redisUrl,
      redisPrefix,
      messages: options.messages,
      httpMessages: options.httpMessages,
      latencyProbes: options.latencyProbes,
      backlogMessages: options.backlogMessages,
      endpointCount: options.endpointCount,
      idleMs: options.idleMs,
      overrides: options.overrides[arm] ?? {},
    }
    const reply = await takeSample(
      { row: row.name, context },
      row.sampleTimeoutMs ?? options.sampleTimeoutMs,
      signal,
      options.nodePath,
    )
    if (reply.kind === 'sample') {
      result.samples[round] = reply.sample
      report(`${label}  ${formatSample(reply.sample, row.unit)}`)
    } else if (reply.kind === 'unavailable') {
      result.unavailable = reply.reason
      report(`${label}  not measured: ${reply.reason}`)
    } else {
      result.failures.push(reply.reason)
      report(`${label}  failed: ${reply.reason}`)
    }
  } finally {
    await server.dropDatabase(databaseUrl)
    if (arm === 'bullmq' && result.unavailable === undefined) {
      await deleteRedisKeys(options.redisUrl, redisPrefix)
    }
  }
}

function formatSample(sample: Sample, unit: string): string {
  const details = Object.entries(sample.details).map(([name, value]) => `${name} ${Number(value.toFixed(2))}`)
  return `${Number(sample.value.toPrecision(4))} ${unit}  (${details.join(', ')})`
}

function report(line: string): void {
  process.stderr.write(`${line}\n`)
}
