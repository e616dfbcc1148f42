import type { ClaimedRun, ClaimResult } from '../../storage/claim-runs.ts'

export interface DivideLimits {
  readonly maxRuns: number
  /** Limit for the bodies of one message; a single run is allowed whatever its size. */
  readonly maxBytes: number
}

/**
 * Groups runs into messages, in their order: plain runs of one job share a message. A run with an ordering key, a target or a due time, and a run
 * that was tried before, gets its own message: the outcome of the message must affect no other run.
 */
export function divideRuns(
  { runs, due }: Pick<ClaimResult, 'runs' | 'due'>,
  { maxRuns, maxBytes }: DivideLimits,
): ClaimedRun[][] {
  const parts: ClaimedRun[][] = []
  /** The message that is being filled, by job. */
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
