import type { ClaimedRun, ClaimResult } from '../../storage/claim-runs.ts'

export interface DivideLimits {
  readonly maxRuns: number
  /** Of bodies; a single run passes whatever its size. */
  readonly maxBytes: number
}

/**
 * Which runs travel in one message: those of one job that are as they were enqueued, in their order. Runs with a key, a target or a time, and those that were tried before, travel alone: what
 * happens to their message must happen to them only.
 */
export function divideRuns(
  { runs, due }: Pick<ClaimResult, 'runs' | 'due'>,
  { maxRuns, maxBytes }: DivideLimits,
): ClaimedRun[][] {
  const parts: ClaimedRun[][] = []
  /** By job: the message that is being filled. */
  const open = new Map<number, { readonly runs: ClaimedRun[]; bytes: number }>()
  for (const run of runs) {
    const bytes = run.body?.length ?? 0
    const filling = due.has(run.id) ? undefined : open.get(run.jobId)
    if (filling !== undefined && filling.runs.length < maxRuns && filling.bytes + bytes <= maxBytes) {
      filling.runs.push(run)
      filling.bytes += bytes
      continue
    }
    const part = [run]
    parts.push(part)
    if (!due.has(run.id)) open.set(run.jobId, { runs: part, bytes })
  }
  return parts
}
