import { mkdirSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Environment } from '../harness/environment.ts'
import type { RowResult } from '../harness/evaluate.ts'
import { renderChart } from './chart.ts'

export interface RunResult {
  startedAt: string
  isQuick: boolean
  rounds: number
  messages: number
  httpMessages: number
  latencyProbes: number
  environment: Environment
  rows: RowResult[]
}

const folder = fileURLToPath(new URL('../results/', import.meta.url))

/** Writes the run as JSON and as a chart; returns the paths. */
export function writeResults(result: RunResult): string[] {
  mkdirSync(folder, { recursive: true })
  const stem = `${folder}${result.startedAt.slice(0, 16).replaceAll(':', '')}${result.isQuick ? '-quick' : ''}`
  const { cpu, cores, node, postgres } = result.environment
  const title = result.isQuick ? 'Holdfast benchmark (quick: not a result)' : 'Holdfast benchmark'
  const subtitle = [
    result.startedAt.slice(0, 10),
    `${cores} × ${cpu}`,
    `Node.js ${node}`,
    `PostgreSQL ${postgres}, fsync on`,
    `median of ${result.rounds} ${result.rounds === 1 ? 'round' : 'rounds'}, whiskers min–max`,
  ].join(' · ')
  writeFileSync(`${stem}.json`, `${JSON.stringify(result, undefined, 2)}\n`)
  writeFileSync(`${stem}.svg`, renderChart(result.rows, title, subtitle))
  return [`${stem}.json`, `${stem}.svg`]
}
