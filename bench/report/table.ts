import type { ArmResult, RowResult } from '../harness/evaluate.ts'
import { formatGoal, formatNumber, formatSpread } from './format.ts'

const HEADER = ['measure', 'holdfast', 'best peer', 'ratio', 'goal', 'verdict']

export function renderTable(results: readonly RowResult[]): string {
  const lines = [HEADER, ...results.map((result) => cellsOf(result))]
  const widths = HEADER.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)))
  const render = (line: string[]) =>
    `| ${line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`
  const rule = `|${widths.map((width) => '-'.repeat(width + 2)).join('|')}|`
  const [header = [], ...body] = lines
  return [render(header), rule, ...body.map((line) => render(line))].join('\n')
}

/** One line for each arm, below the table: its value, with the details that the table has no room for. */
export function renderArms(results: readonly RowResult[]): string {
  return results
    .flatMap((result) => [
      `\n${result.title}, ${result.unit}:`,
      ...result.arms.map((arm) => `  ${arm.arm.padEnd(16)} ${describe(arm)}`),
    ])
    .join('\n')
}

function cellsOf(result: RowResult): string[] {
  const subject = result.arms.find((arm) => arm.role === 'subject')
  const peer = result.arms.find((arm) => arm.arm === result.bestBaseline)
  return [
    `${result.title}, ${result.unit}`,
    subject?.value ? formatNumber(subject.value.median) : '–',
    peer?.value ? `${peer.arm} ${formatNumber(peer.value.median)}` : '–',
    result.ratio ? formatSpread(result.ratio) : '–',
    formatGoal(result.goal),
    result.verdict,
  ]
}

function describe(arm: ArmResult): string {
  if (arm.value === undefined) return `not measured: ${arm.unavailable ?? arm.failures[0] ?? 'not asked for'}`
  const percentiles = ['p50Ms', 'p95Ms', 'p99Ms', 'maxMs']
    .filter((name) => arm.details[name] !== undefined)
    .map((name) => `${name.replace('Ms', '')} ${formatNumber(arm.details[name] ?? 0)}`)
  const worst = arm.details['worstHalfSecond']
  const steadiness = worst === undefined ? [] : [`worst half second ÷ median ${formatNumber(worst)}`]
  return [formatSpread(arm.value), ...percentiles, ...steadiness].join('  ')
}
