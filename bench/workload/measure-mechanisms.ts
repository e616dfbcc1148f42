import { type Sample, type SampleContext, SUBJECT } from '../harness/row.ts'

export const FROM_ANOTHER_CLIENT = 'another-client'
export const A_ROW_EACH = 'a-row-each'

/**
 * The same measurement with and without a mechanism. The baseline publishes through a second client, which shares neither the node nor the worker of
 * the first one, so that work is stored, notified and read (or claimed) in separate steps.
 */
export function againstAnotherClient(
  measure: (context: SampleContext) => Promise<Sample>,
): (context: SampleContext) => Promise<Sample> {
  return against('usesSecondClient', measure)
}

/** The baseline's job has `expiresAfterMs`, which bundles don't support: each run has a row. */
export function againstARowEach(
  measure: (context: SampleContext) => Promise<Sample>,
): (context: SampleContext) => Promise<Sample> {
  return against('hasOwnRows', measure)
}

function against(
  override: string,
  measure: (context: SampleContext) => Promise<Sample>,
): (context: SampleContext) => Promise<Sample> {
  return (context) => {
    const overrides = context.arm === SUBJECT ? context.overrides : { ...context.overrides, [override]: 1 }
    return measure({ ...context, arm: SUBJECT, overrides })
  }
}
