import type { Logger } from '../engine/logger.ts'
import { createPool } from '../postgres/pool.ts'
import { Database } from '../storage/database.ts'

const connectTimeoutMs = 10_000
const queryDeadlineMs = 15_000

export interface OpenDatabaseOptions {
  readonly databaseUrl: string
  readonly logger?: Logger | undefined
  readonly maxConnections: number
  readonly applicationName: string
  /**
   * True: connections are direct sessions and keep prepared statements. False behind a proxy, or before that is known: each statement is sent in
   * full.
   */
  readonly keepsSessions: boolean
}

export function openDatabase(options: OpenDatabaseOptions): Database {
  const { applicationName, databaseUrl, keepsSessions, logger, maxConnections } = options
  const pool = createPool({
    connectionString: databaseUrl,
    max: maxConnections,
    applicationName,
    connectTimeoutMs,
    deadlineMs: queryDeadlineMs,
    plansOnce: keepsSessions,
    ...(logger !== undefined && { logger }),
  })
  return new Database({ pool, preparesStatements: keepsSessions, deadlineMs: queryDeadlineMs })
}
