import type { Goal } from '../harness/row.ts'
import type { Spread } from '../harness/statistics.ts'

/** Three significant digits at most, thousands grouped: `24,300`, `3.12`, `0.94`. */
export function formatNumber(value: number): string {
  const rounded = Number(value.toPrecision(3))
  return rounded.toLocaleString('en-US', { maximumFractionDigits: 2 })
}

export function formatSpread({ median, min, max }: Spread): string {
  if (min === max) return formatNumber(median)
  return `${formatNumber(median)} (${formatNumber(min)}–${formatNumber(max)})`
}

export function formatGoal(goal: Goal): string {
  const limit = 'atLeast' in goal ? `≥ ${goal.atLeast}` : `≤ ${goal.atMost}`
  return goal.moonshot === undefined ? limit : `${limit} (moonshot ${goal.moonshot})`
}
