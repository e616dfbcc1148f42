import type { Verdict } from './evidence.ts'

const maxShownViolations = 5

/** The table that a run ends with: what each row promises, how much it judged, and the first of what it found. */
export function report(verdicts: readonly Verdict[]): string {
  const width = Math.max(...verdicts.map(({ row }) => row.length))
  const lines = [
    `${'row'.padEnd(width)} |  judged | violations`,
    `${'-'.repeat(width)} | ------- | ----------`,
    ...verdicts.flatMap(({ row, checked, violations, unjudged }) => [
      `${row.padEnd(width)} | ${String(checked).padStart(7)} | ${String(violations.length).padStart(10)}`,
      ...(unjudged === undefined ? [] : [`    nothing was judged: ${unjudged}`]),
      ...violations.slice(0, maxShownViolations).map((violation) => `    ${violation}`),
    ]),
  ]
  return `${lines.join('\n')}\n`
}
