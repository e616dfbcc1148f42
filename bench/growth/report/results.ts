import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import type { Machine } from '../../harness/environment.ts'
import type { Curve, PointResult } from '../curve.ts'
import { renderLineChart } from './line-chart.ts'

export interface CurveResult {
  readonly curve: string
  readonly startedAt: string
  readonly isQuick: boolean
  readonly warmUpMs: number
  readonly windowMs: number
  readonly machine: Machine
  readonly points: readonly PointResult[]
}

const folderOf = (isQuick: boolean) =>
  fileURLToPath(new URL(isQuick ? '../../.growth-quick/' : '../../results/growth/', import.meta.url))

export function readResult(name: string, isQuick: boolean): CurveResult {
  return JSON.parse(readFileSync(`${folderOf(isQuick)}${name}.json`, 'utf8')) as CurveResult
}

/** Writes the curve as JSON and as a chart, replacing the previous files, which the documentation shows. Returns the paths. */
export function writeResult(curve: Curve, result: CurveResult): string[] {
  const folder = folderOf(result.isQuick)
  mkdirSync(folder, { recursive: true })
  const { cpu, cores, node, postgres } = result.machine
  const subtitle = [
    result.startedAt.slice(0, 10),
    `${cores} × ${cpu}`,
    `Node.js ${node}`,
    `PostgreSQL ${postgres}, fsync on`,
    ...(result.isQuick ? ['quick: not a result'] : []),
  ].join(' · ')
  const paths = [`${folder}${curve.name}.json`, `${folder}${curve.name}.svg`] as const
  writeFileSync(paths[0], `${JSON.stringify(result, undefined, 2)}\n`)
  writeFileSync(paths[1], renderLineChart(curve, result.points, subtitle))
  return [...paths]
}
