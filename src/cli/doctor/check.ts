export type Verdict = 'ok' | 'warn' | 'fail'

/** One line of the doctor's report. */
export interface Finding {
  readonly check: string
  readonly verdict: Verdict
  readonly message: string
  /** What to do; null when all is well. */
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

/** A check that breaks is a finding of its own, so that the others still run. */
export async function attempt(check: string, look: () => Promise<Finding>): Promise<Finding> {
  try {
    return await look()
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    return fail(
      check,
      `could not be checked: ${message}`,
      'Mend what the lines above name, then run the doctor again.',
    )
  }
}
