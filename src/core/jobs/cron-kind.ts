/**
 * Whether an expression follows the wall clock through a repeated or skipped hour: it has a wildcard, with or without a step, in its minute or hour.
 * Other expressions name fixed times.
 *
 * @example followsClock('0 1-4 * * *') // false
 */
export function followsClock(expression: string): boolean {
  const fields = expression.trim().split(/\s+/)
  if (fields.length === 1) return fields[0]?.toLowerCase() === '@hourly'
  const minuteAt = fields.length > 5 ? 1 : 0
  return fields.slice(minuteAt, minuteAt + 2).some((field) => /[*?]/.test(field))
}
