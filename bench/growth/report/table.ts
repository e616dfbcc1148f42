import { formatNumber } from '../../report/format.ts'
import type { Curve, PointResult } from '../curve.ts'

/** A Markdown table: one row per point, with medians of its rounds. */
export function renderTable(curve: Curve, points: readonly PointResult[]): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  return [
    line(curve.columns.map(({ heading }) => heading)),
    line(curve.columns.map(() => '---:')),
    ...points.map((point) =>
      line(curve.columns.map(({ key }) => (key === 'x' ? curve.formatX(point.x) : cellOf(point, key)))),
    ),
  ].join('\n')
}

function cellOf({ values, rounds, failures }: PointResult, key: string): string {
  const value = values[key]
  if (value === undefined || Number.isNaN(value)) return failures.length > 0 ? 'failed' : '–'
  const all = rounds.map((round) => round[key] ?? value)
  // Only the rate has its range shown: it tells how steady the machine was.
  if (key !== 'perSecond' || all.length < 2) return formatNumber(value)
  return `${formatNumber(value)} (${formatNumber(Math.min(...all))}–${formatNumber(Math.max(...all))})`
}
