import { decideRun, type RunEnding } from '../core/jobs/run-decision.ts'
import { outcomeCodes } from '../storage/settle.ts'
import type { RunRecord } from '../storage/settle-runs.ts'
import type { HandlerEnd } from './handler-ending.ts'
import { jsonOf, type RunContext } from './run-context.ts'
import type { QueuedRun } from './run-line.ts'
import type { RunningRun } from './running-run.ts'

const maxResultBytes = 64 * 1024

/** What is stored of an execution. `isOpen`: its ending was not decided before. */
export function resultOf(running: RunningRun, end: HandlerEnd, isOpen: boolean): RunRecord {
  const { run, context, job } = running
  const attempt = run.attempt + 1
  const decision = decideRun(end.ending, attempt, job.settings, Math.random)
  return {
    id: run.id,
    message: run.messageId,
    // It has ended once already, and its claim has counted it.
    claim: isOpen ? run.claimId : 0,
    lane: run.laneId,
    attempt,
    expected: run.attempt,
    action: decision.action,
    outcome: outcomeOf(end.ending),
    startedAtMs: running.startedAtMs,
    durationMs: Math.round(performance.now() - running.startedMonotonicMs),
    errorCode: end.code,
    error: end.error,
    detail: detailOf(context, end.result),
    delayMs: decision.delayMs,
    reason: decision.reason,
    isTried: end.ending.kind !== 'released',
  }
}

/** What is stored of a run that was not begun. */
export function untriedResultOf({ run }: QueuedRun, end: HandlerEnd, delayMs: number | null): RunRecord {
  return {
    id: run.id,
    message: run.messageId,
    claim: run.claimId,
    lane: run.laneId,
    attempt: run.attempt,
    expected: run.attempt,
    action: untriedActions[end.ending.kind] ?? 'release',
    outcome: outcomeOf(end.ending),
    startedAtMs: Date.now(),
    durationMs: null,
    errorCode: end.code,
    error: end.error,
    detail: null,
    delayMs,
    reason: end.code,
    isTried: false,
  }
}

const untriedActions: Readonly<Partial<Record<RunEnding['kind'], RunRecord['action']>>> = {
  expired: 'expire',
  failed: 'dead',
}

const plainOutcomes: Readonly<Record<Exclude<RunEnding['kind'], 'failed'>, number>> = {
  succeeded: outcomeCodes.success,
  cancelled: outcomeCodes.cancelled,
  expired: outcomeCodes.expired,
  timed_out: outcomeCodes.retryable,
  released: outcomeCodes.retryable,
}

function outcomeOf(ending: RunEnding): number {
  if (ending.kind !== 'failed') return plainOutcomes[ending.kind]
  return ending.isPermanent ? outcomeCodes.permanent : outcomeCodes.retryable
}

/** What is kept of an execution beside its outcome; null when there is nothing. */
function detailOf(context: RunContext, result: unknown): object | null {
  if (result === undefined && !context.hasNews) return null
  const json = result === undefined ? null : jsonOf(result)
  const isKept = json !== null && Buffer.byteLength(json) <= maxResultBytes
  const progress = context.progressValue === undefined ? null : jsonOf(context.progressValue)
  return {
    ...(isKept && { result: JSON.parse(json) as unknown }),
    ...(result !== undefined && !isKept && { resultOmitted: json === null ? 'not_storable' : 'too_large' }),
    ...(progress !== null &&
      progress.length <= maxResultBytes && { progress: JSON.parse(progress) as unknown }),
    ...(context.logs.length > 0 && { logs: context.logs }),
  }
}
