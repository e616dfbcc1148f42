import { decideRun, type RunEnding } from '../core/jobs/run-decision.ts'
import { outcomeCodes } from '../storage/settle.ts'
import type { RunRecord } from '../storage/settle-runs.ts'
import type { HandlerEnd } from './handler-ending.ts'
import { jsonOf, type LogLine, type RunContext } from './run-context.ts'
import type { QueuedRun } from './run-line.ts'
import type { RunningRun } from './running-run.ts'

const maxResultBytes = 64 * 1024

/** The record of an execution. `isOpen`: its outcome has not been decided before. */
export function resultOf(running: RunningRun, end: HandlerEnd, isOpen: boolean): RunRecord {
  const { run, context, job } = running
  const attempt = run.attempt + 1
  const decision = decideRun(end.ending, attempt, job.settings, Math.random)
  return {
    id: run.id,
    message: run.messageId,
    // The run has ended before, and its claim has counted it already.
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

/** The record of a run that was not started. */
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

/** Result, progress and log lines of an execution; null if there are none. */
function detailOf(context: RunContext, result: unknown): object | null {
  if (result === undefined && !context.hasNews) return null
  const json = result === undefined ? null : jsonOf(result)
  const omitted = result === undefined ? null : omissionOf(json)
  const progress = context.progressValue === undefined ? null : jsonOf(context.progressValue)
  const logs = omitted === null ? context.logs : [...context.logs, warning(omitted.message)]
  return {
    ...(json !== null && omitted === null && { result: JSON.parse(json) as unknown }),
    ...(omitted !== null && { resultOmitted: omitted.reason }),
    ...(progress !== null &&
      progress.length <= maxResultBytes && { progress: JSON.parse(progress) as unknown }),
    ...(logs.length > 0 && { logs }),
  }
}

/** Why a result isn't stored; null if it is. */
function omissionOf(json: string | null): { readonly reason: string; readonly message: string } | null {
  if (json === null) {
    return { reason: 'not_storable', message: "The result was not stored: JSON or PostgreSQL can't hold it." }
  }
  const bytes = Buffer.byteLength(json)
  if (bytes <= maxResultBytes) return null
  const message = `The result was not stored: it takes ${bytes} bytes as JSON, more than the limit of ${maxResultBytes}.`
  return { reason: 'too_large', message }
}

function warning(message: string): LogLine {
  return { at: new Date().toISOString(), level: 'warn', message }
}
