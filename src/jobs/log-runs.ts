import { formatId } from '../core/delivery/ids.ts'
import type { Logger } from '../engine/logger.ts'
import type { ClaimedRun } from '../storage/claim-runs.ts'
import type { RunRecord } from '../storage/settle-runs.ts'

/** Ids that connect a log line, a run in the API and the handler's own output. */
export function idsOfRun(run: Pick<ClaimedRun, 'id' | 'messageId' | 'correlationId'>): {
  readonly runId: string
  readonly correlationId: string
} {
  return {
    runId: formatId('run', run.id),
    correlationId: run.correlationId ?? formatId('msg', run.messageId),
  }
}

/**
 * Logs failed attempts at debug level, and dead letters at info level. Successes aren't logged: they are in the database.
 * @param job Null for one that was deleted.
 */
export function logEnding(logger: Logger, run: ClaimedRun, job: string | null, record: RunRecord): void {
  const { action, attempt, errorCode, reason } = record
  const details = { ...idsOfRun(run), job, attempt, error: errorCode }
  if (action === 'dead') logger.info({ ...details, reason }, 'A run became a dead letter')
  else logger.debug(details, 'An attempt of a run failed')
}
