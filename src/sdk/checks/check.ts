export type Verdict = 'ok' | 'warn' | 'fail'

/** One line of the report of `holdfast doctor` and of `GET /v1/system/checks`. */
export interface Finding {
  readonly check: string
  readonly verdict: Verdict
  readonly message: string
  /** What to do; null if there is no problem. */
  readonly advice: string | null
}

export function ok(check: string, message: string): Finding {
  return { check, verdict: 'ok', message, advice: null }
}

export function warn(check: string, message: string, advice: string): Finding {
  return { check, verdict: 'warn', message, advice }
}

export function fail(check: string, message: string, advice: string): Finding {
  return { check, verdict: 'fail', message, advice }
}

/** A check that throws is reported as a finding, so that the others still run. */
export async function attempt<Found>(check: string, look: () => Promise<Found>): Promise<Found | Finding> {
  try {
    return await look()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return fail(
      check,
      `could not be checked: ${message}`,
      'Fix the problems above, then run the doctor again.',
    )
  }
}

/** A check may return several findings: each is a separate problem. */
export type Check = readonly [name: string, look: () => Promise<Finding | readonly Finding[]>]

export async function runChecks(checks: readonly Check[]): Promise<Finding[]> {
  const findings: Finding[] = []
  for (const [name, look] of checks) findings.push(...[await attempt(name, look)].flat())
  return findings
}
