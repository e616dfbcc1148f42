import type { Logger } from '../engine/logger.ts'
import type { ClaimedRun } from '../storage/claim-runs.ts'
import { type HandlerEnd, permanentFailure, released } from './handler-ending.ts'
import type { AnyJob } from './job.ts'
import type { JobTable, KnownJob } from './job-table.ts'
import { idsOfRun } from './log-runs.ts'

export interface ResolveOptions {
  readonly jobs: ReadonlyMap<string, AnyJob>
  readonly table: JobTable
  readonly logger: Logger
  /** Whether this run's success waits in the journal. */
  readonly hasSucceeded: (runId: number) => boolean
}

interface Startable {
  readonly known: KnownJob
  readonly job: AnyJob
}

/** A run that can't be started, and how it ends or is released. */
interface Unstartable {
  readonly end: HandlerEnd
  readonly delayMs: number | null
}

/** A run whose job has no handler here is returned with this delay, for a worker that has one. */
const noHandlerDelayMs = 5000

/** Returns the job of a run, if the run can start now. */
export function resolveRun(run: ClaimedRun, nowMs: number, options: ResolveOptions): Startable | Unstartable {
  // This worker has executed the run: its success is committed before this release.
  if (options.hasSucceeded(run.id)) return { end: released, delayMs: null }
  if (run.expiresAtMs !== null && run.expiresAtMs <= nowMs) {
    const end: HandlerEnd = { ending: { kind: 'expired' }, code: 'expired', error: 'Nobody ran it in time.' }
    return { end, delayMs: null }
  }
  const known = options.table.get(run.jobId)
  if (known === undefined) {
    return { end: permanentFailure('job_deleted', 'Its job was deleted.'), delayMs: null }
  }
  const job = options.jobs.get(known.name)
  if (job?.hasHandler === true) return { known, job }
  const details = { ...idsOfRun(run), job: known.name }
  options.logger.warn(details, 'No handler for this job here; the run goes back')
  return { end: released, delayMs: noHandlerDelayMs }
}
