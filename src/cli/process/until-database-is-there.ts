import { setTimeout as delay } from 'node:timers/promises'
import type { Logger } from '../../engine/logger.ts'
import { describeHosts } from '../../postgres/connect/describe-hosts.ts'
import {
  describeConnectionError,
  isConnectionError,
  isLoginRefused,
} from '../../postgres/connection-error.ts'

export interface DatabaseWait {
  readonly databaseUrl: string
  readonly logger: Logger
  /** Aborts the waiting. */
  readonly signal: AbortSignal
}

const firstPauseMs = 250
const maxPauseMs = 5000
/** Minimum interval between messages with the same reason. */
const repeatMs = 30_000

/**
 * Runs `start`, and repeats it with growing delays and log messages while the database is unavailable. Any other failure ends it at once: a wrong
 * password, an unknown database or a missing schema don't fix themselves.
 */
export async function untilDatabaseIsThere<Result>(
  { databaseUrl, logger, signal }: DatabaseWait,
  start: () => Promise<Result>,
): Promise<Result> {
  const hosts = describeHosts(databaseUrl)
  let said = { reason: '', atMs: Number.NEGATIVE_INFINITY }
  for (let pauseMs = firstPauseMs; ; pauseMs = Math.min(pauseMs * 2, maxPauseMs)) {
    try {
      const result = await start()
      if (said.reason !== '') logger.info({ hosts }, `PostgreSQL at ${hosts} is reachable`)
      return result
    } catch (error) {
      if (signal.aborted || !isConnectionError(error) || isLoginRefused(error)) throw error
      const reason = describeConnectionError(error)
      const nowMs = performance.now()
      if (reason !== said.reason || nowMs - said.atMs >= repeatMs) {
        logger.warn({ hosts, reason }, `Waiting for PostgreSQL at ${hosts}: ${reason}`)
        said = { reason, atMs: nowMs }
      }
      // Half fixed, half random: clients must not all reconnect at once when the server is back.
      await delay(pauseMs / 2 + (Math.random() * pauseMs) / 2, undefined, { signal })
    }
  }
}
