import { alertKinds, isAlertKind } from '../../../src/core/alerts/alert-kinds.ts'
import { formatCount, formatPercent, formatSpan } from '../../parts/numbers.ts'

/** What an alert counts, or its threshold: `10`, `5 min`, `50 %`. Null for kinds that fire at the first finding. */
export function amountText(kind: string, amount: number): string | null {
  const unit = isAlertKind(kind) ? alertKinds[kind].unit : 'count'
  if (unit === 'none') return null
  if (unit === 'seconds') return formatSpan(amount * 1000)
  if (unit === 'share') return formatPercent(amount)
  return `${formatCount(Math.round(amount * 100) / 100)}${unit === 'per minute' ? ' per minute' : ''}`
}

/** When a rule fires: `above 5 min`, `below 10 %`, `when found`. */
export function thresholdText(kind: string, threshold: number): string {
  const amount = amountText(kind, threshold)
  if (amount === null) return 'when found'
  return `${kind === 'disk_low' ? 'below' : 'above'} ${amount}`
}
