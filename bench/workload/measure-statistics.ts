import { type Sample, type SampleContext, SUBJECT } from '../harness/row.ts'
import { measureProcessing } from './measure-processing.ts'

export const WITHOUT_STATISTICS = 'without'

/** The same run as the row of deliveries, with and without the counts for statistics. */
export function measureStatistics(context: SampleContext): Promise<Sample> {
  const keepsStatistics = context.arm === SUBJECT ? 1 : 0
  return measureProcessing({ ...context, arm: SUBJECT, overrides: { ...context.overrides, keepsStatistics } })
}
