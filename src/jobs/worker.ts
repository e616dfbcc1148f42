import { hostname } from 'node:os'
import { InFlightNotes } from '../engine/in-flight-notes.ts'
import { type Logger, silentLogger } from '../engine/logger.ts'
import { requireDatabaseUrl } from '../postgres/connect/database-url.ts'
import { closePool, createPool } from '../postgres/pool.ts'
import { assertSchema } from '../postgres/schema.ts'
import { testSessionSupport } from '../postgres/self-test.ts'
import type { ClaimResult } from '../storage/claim-runs.ts'
import { Database } from '../storage/database.ts'
import { declareJob, readQueuesOfJobs } from '../storage/jobs.ts'
import {
  buryWorker,
  markWorkerStopping,
  type RecoveredRuns,
  readAllowsPrepared,
  readWorkerBeats,
  retireWorker,
} from '../storage/workers.ts'
import { Claimer } from './claimer.ts'
import { Executor } from './executor.ts'
import type { HeardBeat } from './heartbeat-protocol.ts'
import type { AnyJob } from './job.ts'
import { JobTable } from './job-table.ts'
import type { Journal, JournalEntry } from './journal.ts'
import { Keeper, type KeeperLimits } from './keeper.ts'
import { addLocalWorker, type KeptSlot } from './local-workers.ts'
import { type OpenedJournal, openJournal } from './open-journal.ts'
import { Presence } from './presence.ts'
import { ProgressWriter } from './progress-writer.ts'
import { RunSettler } from './run-settler.ts'
import { withDeadline } from './with-deadline.ts'
import { defaultWorkerLimits, type WorkerLimits } from './worker-limits.ts'

export interface WorkerOptions {
  readonly databaseUrl: string | undefined
  /** The jobs that this worker handles. */
  readonly jobs: readonly AnyJob[]
  /** The queues to take from; those of the jobs when left out. */
  readonly queues?: readonly string[]
  /** How the worker is called, and aimed at; the host's name when left out. */
  readonly name?: string
  readonly tags?: readonly string[]
  /** Handlers at once. */
  readonly concurrency?: number
  /** Where results wait when the database is away; null: in memory only. */
  readonly journalFolder?: string | null
  readonly limits?: Partial<WorkerLimits>
  readonly keeper?: Partial<KeeperLimits>
  /**
   * A run came to its end, and it is committed; `holdfast.countRun` makes a metric of it. Must not throw. `durationMs` is of its last attempt, null
   * when it ended without one.
   */
  readonly onRunEnded?: (outcome: RunEnding, durationMs: number | null) => void
  /** Runs were recovered here from workers that died; `holdfast.countRecovered` makes a metric of it. Must not throw. */
  readonly onRecovered?: (recovered: RecoveredRuns) => void
  readonly logger?: Logger
}

export type RunEnding = 'succeeded' | 'dead' | 'expired' | 'cancelled'

const endings = { succeed: 'succeeded', dead: 'dead', expire: 'expired', cancel: 'cancelled' } as const

const connectTimeoutMs = 10_000
const queryDeadlineMs = 15_000
const closeDeadlineMs = 5000
/** One claims, one settles, one is at hand for progress and the keeper. */
const workConnections = 4
const jobRefreshMs = 5000
const leaveDeadlineMs = 5000
/** What was claimed ahead and still waits after this goes back. */
const maxLineWaitMs = 5000

/** A process that executes runs. */
export class JobWorker {
  readonly #options: WorkerOptions
  readonly #databaseUrl: string
  readonly #limits: WorkerLimits
  readonly #logger: Logger
  readonly #jobs: ReadonlyMap<string, AnyJob>
  readonly #concurrency: number
  readonly #name: string
  #parts: Parts | null = null
  #database: Database | null = null
  #jobIds: readonly number[] = []
  #refreshing: Promise<void> | null = null
  #isStopping = false
  #isDraining = false
  #areAllRungFor = true
  /** Of the server, as the last beat told. */
  #life: string | null = null
  #isRejoining = false
  #journal: OpenedJournal | null = null
  #unlist: (() => void) | null = null
  #refreshTimer: NodeJS.Timeout | null = null
  #starting: Promise<void> | null = null
  #stopping: Promise<void> | null = null

  constructor(options: WorkerOptions) {
    this.#options = options
    this.#databaseUrl = requireDatabaseUrl(options.databaseUrl)
    this.#limits = { ...defaultWorkerLimits, ...options.limits }
    this.#logger = options.logger ?? silentLogger
    this.#jobs = new Map(options.jobs.map((job) => [job.name, job]))
    this.#concurrency = options.concurrency ?? 10
    this.#name = options.name ?? hostname()
  }

  get incarnation(): number {
    return this.#parts?.presence.incarnation ?? 0
  }

  get running(): number {
    return this.#parts?.executor.runningCount ?? 0
  }

  /** Whether its heartbeat has failed for so long that it starts nothing until one gets through. */
  get isFenced(): boolean {
    return this.#parts?.presence.isFenced ?? false
  }

  /** Runs that have ended here, whatever came of them. */
  get completed(): number {
    return this.#parts?.executor.completed ?? 0
  }

  /** Starts to claim. Safe to call twice. */
  start(): Promise<void> {
    this.#starting ??= this.#start()
    return this.#starting
  }

  /** Claims nothing more, hands back what hasn't begun, lets handlers end, and settles. Safe to call twice. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop()
    return this.#stopping
  }

  async #start(): Promise<void> {
    const databaseUrl = this.#databaseUrl
    const support = await testSessionSupport(databaseUrl)
    if (support.reason !== null) {
      this.#logger.warn(
        { reason: support.reason },
        'No notifications through this connection: the worker polls',
      )
    }
    const database = this.#openDatabase(support.keepsSessions)
    this.#database = database
    await assertSchema(database.pool)
    this.#areAllRungFor = !(await readAllowsPrepared(database))
    const { journalFolder } = this.#options
    this.#journal =
      journalFolder === null ? null : await openJournal(journalFolder, this.#name, this.#limits, this.#logger)
    const journal = this.#journal?.journal ?? null
    const parts = this.#assemble(database, journal, support.listens ? databaseUrl : null)
    this.#parts = parts
    if (this.#journal !== null && journal !== null) {
      parts.settler.replay(this.#journal.left, journal.lastNumber)
      // Before anything is claimed: what has been done must not be done again.
      await parts.settler.drained()
      await this.#buryPredecessors(database, journal.formerWorkers)
    }
    const declared = await this.#declareJobs(database)
    const { queues = declared.length === 0 ? ['default'] : declared } = this.#options
    await parts.presence.join(queues)
    parts.claimer.start()
    parts.keeper.start()
    this.#unlist = addLocalWorker(databaseUrl, { keepSlot: (job) => this.#keepSlot(job) })
    this.#refreshTimer = setInterval(() => void this.#refreshJobs(), jobRefreshMs)
    this.#refreshTimer.unref()
    this.#logger.info({ worker: this.incarnation, name: this.#name, queues }, 'The worker takes runs')
  }

  #assemble(database: Database, journal: Journal | null, listenUrl: string | null): Parts {
    const table = new JobTable(database, this.#logger)
    const limits = this.#limits
    const presence: Presence = new Presence({
      database,
      databaseUrl: this.#databaseUrl,
      listenUrl,
      name: this.#name,
      tags: this.#options.tags ?? [],
      concurrency: this.#concurrency,
      limits,
      logger: this.#logger,
      onRing: () => claimer.ring(),
      onJobsChanged: () => void this.#refreshJobs().then(() => claimer.ring()),
      onBeat: (heard) => this.#heard(heard),
      onRecovered: (recovered) => this.#options.onRecovered?.(recovered),
      onJoined: (incarnation) => journal?.noteWorker(incarnation),
    })
    const worker = () => presence.incarnation
    const notes: InFlightNotes = new InFlightNotes({
      database,
      incarnation: worker,
      list: (maxEntries) => executor.listInFlight(maxEntries),
      report: (error) => this.#logger.debug({ error: String(error) }, 'What is running could not be noted'),
    })
    const progress = new ProgressWriter({
      database,
      intervalMs: limits.progressMs,
      logger: this.#logger,
      worker,
    })
    const settler = new RunSettler({
      database,
      journal,
      logger: this.#logger,
      onSettled: (entries, refused) => this.#settled(entries, refused),
    })
    const executor: Executor = new Executor({
      jobs: this.#jobs,
      table,
      concurrency: this.#concurrency,
      cancelGraceMs: limits.cancelGraceMs,
      logger: this.#logger,
      observer: { onNews: (context) => progress.note(context) },
      mayStart: () => !this.#isStopping && settler.unsettled < limits.maxUnsettled && !presence.isFenced,
      hasSucceeded: (runId) => settler.hasSucceeded(runId),
      settle: (entry) => settler.accept(entry),
      onRunning: (count) => {
        presence.running = count
        if (count > 0) notes.begun()
      },
      onRoom: (isSuspects) => {
        // Those that had to wait for it are due already: nobody rings for them.
        if (isSuspects) claimer.ring()
        else claimer.noteRoom()
      },
    })
    const claimer = new Claimer({
      database,
      executor,
      limits,
      concurrency: this.#concurrency,
      logger: this.#logger,
      worker,
      laneIds: () => presence.laneIds,
      mayClaim: () =>
        !this.#isStopping &&
        !this.#isDraining &&
        !this.#isRejoining &&
        !settler.isOffline &&
        settler.unsettled < limits.maxUnsettled &&
        journal?.hasRoom() !== false &&
        !presence.isFenced,
      canBeRung: () => presence.canBeRung,
      areAllRungFor: () => this.#areAllRungFor,
      take: (result, incarnation) => this.#take(result, incarnation),
    })
    const keeper = new Keeper({
      database,
      logger: this.#logger,
      by: worker,
      watchesWorkers: false,
      onRecovered: (recovered) => this.#options.onRecovered?.(recovered),
      ...(this.#options.keeper !== undefined && { limits: this.#options.keeper }),
    })
    return { presence, table, settler, executor, claimer, progress, notes, journal, keeper }
  }

  async #take({ runs }: ClaimResult, worker: number): Promise<void> {
    const [first] = runs
    // Declared dead while the answer was on its way: these runs have gone back.
    if (first === undefined || this.#parts === null || worker !== this.incarnation) return
    const claimedAtMs = performance.now()
    this.#parts.settler.expect(first.claimId, runs.length)
    try {
      await this.#parts.table.load(runs.map(({ jobId }) => jobId))
    } catch (error) {
      // They go back with their claim; nothing of them has begun.
      this.#parts.settler.forget(first.claimId)
      throw error
    }
    // Or while we looked at their jobs.
    if (worker !== this.incarnation) {
      this.#parts.settler.forget(first.claimId)
      return
    }
    this.#parts.executor.add(runs.map((run) => ({ run, worker, claimedAtMs })))
  }

  /** For a run that this process enqueues; see Claimer.keepSlot. */
  #keepSlot(job: string): KeptSlot | null {
    const isHandled = this.#jobs.get(job)?.hasHandler ?? false
    return isHandled ? (this.#parts?.claimer.keepSlot() ?? null) : null
  }

  #settled(entries: readonly JournalEntry[], refused: ReadonlySet<number>): void {
    if (refused.size > 0) {
      this.#logger.warn({ runs: refused.size }, 'Decisions were refused: somebody else has these runs now')
    }
    for (const { record } of entries) {
      const { action, id, durationMs } = record
      if (action !== 'retry' && action !== 'release' && !refused.has(id))
        this.#options.onRunEnded?.(endings[action], durationMs)
    }
    this.#parts?.progress.ended(entries.map(({ record }) => record.id))
    this.#parts?.executor.pump()
    this.#parts?.claimer.noteRoom()
    const soonest = entries.some(({ record }) => record.action === 'retry' || record.action === 'release')
    if (soonest && !this.#isStopping) this.#parts?.claimer.ring()
  }

  #heard({ isKnown, state, cancellations, life }: HeardBeat): void {
    if (this.#isStopping) return
    if (!isKnown) {
      void this.#rejoin().catch((error: unknown) =>
        this.#logger.error({ error: String(error) }, 'The worker could not join again'),
      )
      return
    }
    const wasDraining = this.#isDraining
    this.#isDraining = state === 'draining'
    if (wasDraining && !this.#isDraining) this.#parts?.claimer.ring()
    if (this.#life !== null && life !== this.#life) this.#startAnew()
    this.#life = life
    for (const { id, reason } of cancellations) this.#parts?.executor.cancel(id, reason)
    this.#parts?.executor.releaseStale(maxLineWaitMs)
    // A fence may have been lifted.
    this.#parts?.executor.pump()
    this.#parts?.claimer.noteRoom()
  }

  /**
   * The server has restarted, recovered or failed over, and may not know of our latest claims, nor that we sleep. What has begun goes on, and its result
   * counts where it matches the run; the rest goes back.
   */
  #startAnew(): void {
    this.#logger.warn({ worker: this.incarnation }, 'The database has restarted, recovered or failed over')
    this.#parts?.executor.releaseStale(0)
    this.#parts?.claimer.reset()
    void this.#refreshJobs()
  }

  /** Somebody took our runs while we were out of reach: what hasn't begun is theirs, and we come back as a new worker. */
  async #rejoin(): Promise<void> {
    if (this.#isRejoining || this.#parts === null) return
    this.#isRejoining = true
    try {
      const dropped = this.#parts.executor.dropLine()
      for (const { run } of dropped) this.#parts.settler.forget(run.claimId)
      this.#logger.warn({ worker: this.incarnation, dropped: dropped.length }, 'Declared dead; joining again')
      await this.#parts.presence.joinAgain(() => this.#isStopping)
    } finally {
      this.#isRejoining = false
    }
    this.#parts.claimer.reset()
  }

  /** Makes our jobs known, and says which queues they are in, overrides considered. */
  async #declareJobs(database: Database): Promise<readonly string[]> {
    const ids: number[] = []
    for (const job of this.#jobs.values()) ids.push(await declareJob(database, job.name, job.settings))
    this.#jobIds = ids
    return readQueuesOfJobs(database, ids)
  }

  /** Somebody may have changed our jobs. One look at a time. */
  #refreshJobs(): Promise<void> {
    this.#refreshing ??= this.#readJobs()
      .catch((error: unknown) =>
        this.#logger.debug({ error: String(error) }, 'The jobs could not be read again'),
      )
      .finally(() => {
        this.#refreshing = null
      })
    return this.#refreshing
  }

  async #readJobs(): Promise<void> {
    const database = this.#database
    const parts = this.#parts
    if (database === null || parts === null) return
    await parts.table.refresh()
    if (this.#options.queues !== undefined) return
    const { presence } = parts
    const names = await readQueuesOfJobs(database, this.#jobIds)
    const isSame =
      names.length === presence.queueNames.length && names.every((name) => presence.queueNames.includes(name))
    if (isSame || names.length === 0 || this.#isStopping || this.#isRejoining) return
    await presence.takeFrom(names)
    this.#logger.info({ queues: names }, 'A job has moved; the worker takes from these queues now')
    parts.claimer.ring()
  }

  /** Whoever wrote this journal before us is dead, for we hold its lock: its runs needn't wait for its lease. */
  async #buryPredecessors(database: Database, former: ReadonlySet<number>): Promise<void> {
    if (former.size === 0) return
    for (const { incarnation, beat } of await readWorkerBeats(database)) {
      if (!former.has(incarnation)) continue
      const recovered = await buryWorker(database, incarnation, beat, incarnation)
      this.#options.onRecovered?.(recovered)
    }
  }

  async #stop(): Promise<void> {
    await this.#starting?.catch(() => {})
    this.#isStopping = true
    this.#unlist?.()
    if (this.#refreshTimer !== null) clearInterval(this.#refreshTimer)
    await this.#refreshing
    const parts = this.#parts
    const database = this.#database
    if (parts !== null && database !== null) {
      await markWorkerStopping(database, this.incarnation).catch(() => {})
      await parts.claimer.stop()
      await parts.keeper.stop()
      parts.executor.stop()
      await this.#untilEnded(parts)
      const left = parts.executor.releaseAll()
      if (left > 0) this.#logger.warn({ runs: left }, 'These runs outlived the stop; they go back')
      await withDeadline(parts.settler.drained(), leaveDeadlineMs)
      parts.settler.abandon()
      await parts.settler.drained()
      await withDeadline(parts.progress.stop(), leaveDeadlineMs)
      await withDeadline(parts.notes.stop(), leaveDeadlineMs)
      parts.journal?.close()
    }
    // Beats go on until everything is settled.
    await parts?.presence.leave()
    if (database !== null) {
      if (this.incarnation !== 0) await retireWorker(database, this.incarnation).catch(() => {})
      await closePool(database.pool, closeDeadlineMs)
    }
    await this.#journal?.release()
  }

  async #untilEnded({ executor }: Parts): Promise<void> {
    const deadlineMs = performance.now() + this.#limits.stopTimeoutMs
    while (executor.runningCount > 0 && performance.now() < deadlineMs) {
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
  }

  #openDatabase(keepsSessions: boolean): Database {
    const pool = createPool({
      connectionString: this.#databaseUrl,
      max: workConnections,
      applicationName: 'holdfast-worker',
      connectTimeoutMs,
      deadlineMs: queryDeadlineMs,
      plansOnce: keepsSessions,
      logger: this.#logger,
    })
    return new Database({ pool, preparesStatements: keepsSessions, deadlineMs: queryDeadlineMs })
  }
}

interface Parts {
  readonly presence: Presence
  readonly table: JobTable
  readonly settler: RunSettler
  readonly executor: Executor
  readonly claimer: Claimer
  readonly progress: ProgressWriter
  readonly notes: InFlightNotes
  readonly journal: Journal | null
  readonly keeper: Keeper
}
