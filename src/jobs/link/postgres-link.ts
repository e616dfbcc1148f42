import { InFlightNotes } from '../../engine/in-flight-notes.ts'
import type { Logger } from '../../engine/logger.ts'
import { closePool, createPool } from '../../postgres/pool.ts'
import { assertSchema } from '../../postgres/schema.ts'
import { testSessionSupport } from '../../postgres/self-test.ts'
import { Database } from '../../storage/database.ts'
import { readJobsById } from '../../storage/jobs.ts'
import {
  clearProgress,
  quarantineRun,
  recordProgress,
  settleRunFailures,
  settleRunSuccesses,
} from '../../storage/settle-runs.ts'
import { notifyFollowers, runsChannel } from '../../storage/tail.ts'
import { type RecoveredRuns, readAllowsPrepared } from '../../storage/workers.ts'
import { Claimer } from '../claimer.ts'
import { Keeper, type KeeperLimits } from '../keeper.ts'
import { Presence } from '../presence.ts'
import type {
  LinkedJob,
  NotesOptions,
  PresenceOptions,
  ProgressStore,
  RunFeed,
  RunFeedOptions,
  RunNotes,
  RunResultStore,
  WorkerLink,
} from './worker-link.ts'

export interface PostgresLinkOptions {
  readonly databaseUrl: string
  readonly logger: Logger
  readonly keeper: Partial<KeeperLimits> | undefined
  readonly onRecovered: (recovered: RecoveredRuns) => void
}

const connectTimeoutMs = 10_000
const queryDeadlineMs = 15_000
const closeDeadlineMs = 5000
/** For claims, results, progress and the keeper. */
const workConnections = 4

/** Connects a worker to PostgreSQL, where it claims runs and commits results. */
export class PostgresLink implements WorkerLink {
  readonly target = 'database'
  readonly #options: PostgresLinkOptions
  #opened: Database | null = null
  #presence: Presence | null = null
  #listens = false
  #areAllRungFor = true

  constructor(options: PostgresLinkOptions) {
    this.#options = options
  }

  readonly results: RunResultStore = {
    settleSuccesses: (worker, records, ended) =>
      settleRunSuccesses(this.#database, worker, records, ended, Date.now()),
    settleFailures: (worker, records, ended) =>
      settleRunFailures(this.#database, worker, records, ended, Date.now()),
    quarantine: (worker, record, error) => quarantineRun(this.#database, worker, record, error),
  }

  readonly progress: ProgressStore = {
    record: (worker, entries) => recordProgress(this.#database, worker, entries),
    clear: (runIds) => clearProgress(this.#database, runIds),
  }

  async open(): Promise<void> {
    const { databaseUrl, logger } = this.#options
    const support = await testSessionSupport(databaseUrl)
    if (support.reason !== null) {
      logger.warn({ reason: support.reason }, 'No notifications through this connection: the worker polls')
    }
    this.#listens = support.listens
    this.#opened = this.#openDatabase(support.keepsSessions)
    await assertSchema(this.#database.pool)
    this.#areAllRungFor = !(await readAllowsPrepared(this.#database))
  }

  async close(): Promise<void> {
    if (this.#opened !== null) await closePool(this.#opened.pool, closeDeadlineMs)
  }

  readJobs(ids: readonly number[]): Promise<readonly LinkedJob[]> {
    return readJobsById(this.#database, ids)
  }

  tellFollowers(payload: string): Promise<void> {
    return notifyFollowers(this.#database, runsChannel, payload)
  }

  createPresence(options: PresenceOptions): Presence {
    const { databaseUrl } = this.#options
    const listenUrl = this.#listens ? databaseUrl : null
    this.#presence = new Presence({ ...options, database: this.#database, databaseUrl, listenUrl })
    return this.#presence
  }

  createFeed(options: RunFeedOptions): RunFeed {
    const presence = this.#presence
    if (presence === null) throw new Error('the presence comes first')
    return new Claimer({
      ...options,
      database: this.#database,
      laneIds: () => presence.laneIds,
      jobIds: () => presence.jobIds,
      canBeRung: () => presence.canBeRung,
      areAllRungFor: () => this.#areAllRungFor,
    })
  }

  createNotes({ worker, list, logger }: NotesOptions): RunNotes {
    return new InFlightNotes({
      database: this.#database,
      incarnation: worker,
      list,
      report: (error) =>
        logger.debug({ error: String(error) }, 'The list of running runs could not be written'),
    })
  }

  createUpkeep(by: () => number): Keeper {
    const { logger, onRecovered, keeper } = this.#options
    return new Keeper({
      database: this.#database,
      logger,
      by,
      watchesWorkers: false,
      onRecovered,
      ...(keeper !== undefined && { limits: keeper }),
    })
  }

  get #database(): Database {
    if (this.#opened === null) throw new Error('the link is not open')
    return this.#opened
  }

  #openDatabase(keepsSessions: boolean): Database {
    const pool = createPool({
      connectionString: this.#options.databaseUrl,
      max: workConnections,
      applicationName: 'holdfast-worker',
      connectTimeoutMs,
      deadlineMs: queryDeadlineMs,
      plansOnce: keepsSessions,
      logger: this.#options.logger,
    })
    return new Database({ pool, preparesStatements: keepsSessions, deadlineMs: queryDeadlineMs })
  }
}
