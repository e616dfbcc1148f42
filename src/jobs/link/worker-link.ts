import type { Logger } from '../../engine/logger.ts'
import type { ClaimedRun } from '../../storage/claim-runs.ts'
import type { InFlight } from '../../storage/in-flight.ts'
import type { JobRow } from '../../storage/jobs.ts'
import type { ProgressEntry, RunRecord } from '../../storage/settle-runs.ts'
import type { RecoveredRuns } from '../../storage/workers.ts'
import type { Executor } from '../executor.ts'
import type { HeardBeat } from '../heartbeat-protocol.ts'
import type { AnyJob } from '../job.ts'
import type { KeptSlot } from '../local-workers.ts'
import type { WorkBoard, WorkBoardMemory } from '../work-board/work-board.ts'
import type { WorkerLimits } from '../worker-limits.ts'

/**
 * A worker's connection to the installation: the source of its runs and the target of its results. There is one for PostgreSQL and one for a broker;
 * the code that executes runs is the same for both.
 */
export interface WorkerLink {
  /** For log messages, like "The database is unavailable". */
  readonly target: 'database' | 'broker'
  /** Connects. Rejects if that fails, or if the server can't be used. */
  open(): Promise<void>
  /** Reads name, settings and state of these jobs; unknown ids are skipped. */
  readJobs(ids: readonly number[]): Promise<readonly LinkedJob[]>
  readonly results: RunResultStore
  readonly progress: ProgressStore
  /** Announces ended runs on the stream of changes; undefined if the link has no stream. */
  tellFollowers?(payload: string): Promise<void>
  createPresence(options: PresenceOptions): WorkerPresence
  createFeed(options: RunFeedOptions): RunFeed
  createNotes(options: NotesOptions): RunNotes
  /** The upkeep that this worker does for the whole installation. */
  createUpkeep(by: () => number): { start(): void; stop(): Promise<void> }
  close(): Promise<void>
}

export type LinkedJob = Pick<
  JobRow,
  'id' | 'name' | 'defaults' | 'overrides' | 'state' | 'state_reason' | 'reenable_at'
>

/** Stores results. A call whose connection was lost is repeated, so storing the same results twice must change nothing. */
export interface RunResultStore {
  settleSuccesses(
    worker: number,
    records: readonly RunRecord[],
    endedClaims: readonly number[],
  ): Promise<void>
  /** Returns the runs whose decision was refused, as far as known. */
  settleFailures(
    worker: number,
    records: readonly RunRecord[],
    endedClaims: readonly number[],
  ): Promise<readonly number[]>
  /** Stores a record that the target refuses in any form. Returns the run's correlation id. */
  quarantine(worker: number, record: RunRecord, error: string): Promise<string | undefined>
}

/** Stores progress and log lines of running runs; the result contains them too. */
export interface ProgressStore {
  record(worker: number, entries: readonly ProgressEntry[]): Promise<void>
  clear(runIds: readonly number[]): Promise<void>
}

export interface PresenceOptions {
  readonly name: string
  readonly tags: readonly string[]
  readonly concurrency: number
  /** Null: the queues of its jobs. */
  readonly queues: readonly string[] | null
  /** All jobs, including those without a handler. */
  readonly jobNames: readonly string[]
  /** The jobs that it has handlers for. */
  readonly jobs: readonly Pick<AnyJob, 'name' | 'settings'>[]
  readonly limits: WorkerLimits
  readonly board: WorkBoardMemory
  readonly endBlockedAfterMs: number | null
  readonly logger: Logger
  /** There may be runs for this worker. */
  readonly onRing: () => void
  readonly onJobsChanged: () => void
  /** Somebody follows the stream for this long. */
  readonly onTailWanted: (forMs: number) => void
  /** A heartbeat succeeded. */
  readonly onBeat: (heard: HeardBeat) => void
  /** This worker has recovered the runs of a dead peer. */
  readonly onRecovered: (recovered: RecoveredRuns) => void
  /** This worker has registered as a new incarnation, which no other process has seen yet. */
  readonly onJoined: (incarnation: number) => void
}

/** A worker's registration in the installation, with its lease and its notifications. */
export interface WorkerPresence {
  /** 0 before it has joined. */
  readonly incarnation: number
  readonly queueNames: readonly string[]
  /** Whether the lease is so close to its end that another worker may soon get the runs. */
  readonly isFenced: boolean
  running: number
  /**
   * Declares the worker's jobs and registers it. `former`: incarnations of dead processes, whose runs are recovered without waiting for their lease.
   */
  join(former: ReadonlySet<number>): Promise<void>
  /** Registers as a new incarnation; retries until that succeeds, or the worker stops. */
  joinAgain(isStopping: () => boolean): Promise<void>
  /** Reads the jobs again after a change. Returns whether the worker now takes from other queues; only if it may move. */
  refreshJobs(mayMove: () => boolean): Promise<boolean>
  /** Records that this worker takes no more runs. Never rejects. */
  markStopping(): Promise<void>
  /** Ends the lease and removes the registration. Never rejects. */
  leave(): Promise<void>
}

export interface RunFeedOptions {
  readonly executor: Executor
  readonly board: WorkBoard
  readonly limits: WorkerLimits
  readonly concurrency: number
  /** Minimum of runs that may wait in the local queue, so that a batch handler finds them there. */
  readonly minLine: number
  readonly logger: Logger
  readonly worker: () => number
  /** False while stopping, draining, fenced, or with a full journal. */
  readonly mayClaim: () => boolean
  /** Passes on runs claimed by this incarnation. `isOurs` is called once, when the runs can start: false if they have been returned meanwhile. */
  readonly take: TakeRuns
  /** Returns a run to its queue that was not passed to `take`, but may count as claimed by this worker. */
  readonly release: (run: ClaimedRun, worker: number) => void
  /** Whether this run's success waits to be stored, or was stored recently: the run must not be executed again. */
  readonly hasSucceeded: (runId: number) => boolean
}

export type TakeRuns = (runs: readonly ClaimedRun[], worker: number, isOurs: () => boolean) => Promise<void>

/** The source of runs: it keeps the slots filled and, when runs are short, also a local queue. */
export interface RunFeed {
  start(): void
  /** Takes no more runs, and returns those that were not passed to `take`. */
  stop(): Promise<void>
  /** Signals that there may be work. */
  ring(): void
  /** Signals that a slot is free. */
  noteRoom(): void
  /** Results are stored: a limit that held runs back may allow more. `noteRoom` is called if undefined. */
  noteSettled?(): void
  /** This worker has a new incarnation, or the database may have lost its latest claims. */
  reset(): void
  /** Reserves a slot for one run that this process is about to enqueue as claimed by this worker; null if not possible. */
  keepSlot(): KeptSlot | null
}

export interface NotesOptions {
  readonly worker: () => number
  readonly list: (maxEntries: number) => readonly InFlight[]
  readonly logger: Logger
}

/** Records which runs are executing, so that the process that recovers them after a crash knows the interrupted attempts. */
export interface RunNotes {
  begun(): void
  stop(): Promise<void>
}
