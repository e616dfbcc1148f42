import { type Sample, type SampleContext, SUBJECT } from '../harness/row.ts'

/** The same measurement with Holdfast's job runs instead of its deliveries. */
export function asJobs(
  measure: (context: SampleContext) => Promise<Sample>,
): (context: SampleContext) => Promise<Sample> {
  return (context) => measure({ ...context, arm: context.arm === SUBJECT ? 'holdfast-jobs' : context.arm })
}
