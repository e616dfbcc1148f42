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
  /** This run's success waits in the journal. */
  readonly hasSucceeded: (runId: number) => boolean
}

interface Startable {
  readonly known: KnownJob
  readonly job: AnyJob
}

/** A run that can't be started, and how it ends or goes back. */
interface Unstartable {
  readonly end: HandlerEnd
  readonly delayMs: number | null
}

/** A run whose job nobody here can handle goes back and waits for a worker that can. */
const noHandlerDelayMs = 5000

/** The job of a run, if it can be started now. */
export function resolveRun(run: ClaimedRun, nowMs: number, options: ResolveOptions): Startable | Unstartable {
  // Executed before, by us: its success is on its way, and comes in before this.
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
