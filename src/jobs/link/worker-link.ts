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
 * What connects a worker with the rest: where its runs come from, and where its results go. There is one over PostgreSQL and one over a
 * broker; all that executes runs is the same for both.
 */
export interface WorkerLink {
  /** For log lines: "The database is unavailable". */
  readonly target: 'database' | 'broker'
  /** Connects. Rejects if that fails, or if what answers can't be used. */
  open(): Promise<void>
  /** The name, settings and state of these jobs, as far as they exist. */
  readJobs(ids: readonly number[]): Promise<readonly LinkedJob[]>
  readonly results: RunResultStore
  readonly progress: ProgressStore
  /** Announces ended runs on the stream of changes; left out where the link has no such stream. */
  tellFollowers?(payload: string): Promise<void>
  createPresence(options: PresenceOptions): WorkerPresence
  createFeed(options: RunFeedOptions): RunFeed
  createNotes(options: NotesOptions): RunNotes
  /** What this worker does for the whole installation. */
  createUpkeep(by: () => number): { start(): void; stop(): Promise<void> }
  close(): Promise<void>
}

export type LinkedJob = Pick<
  JobRow,
  'id' | 'name' | 'defaults' | 'overrides' | 'state' | 'state_reason' | 'reenable_at'
>

/** Where results go. A call whose connection was lost is repeated: storing the same results twice must change nothing. */
export interface RunResultStore {
  settleSuccesses(
    worker: number,
    records: readonly RunRecord[],
    endedClaims: readonly number[],
  ): Promise<void>
  /** Returns the runs whose decision was refused, as far as that is known. */
  settleFailures(
    worker: number,
    records: readonly RunRecord[],
    endedClaims: readonly number[],
  ): Promise<readonly number[]>
  /** Keeps a record that is refused in any form. Returns the run's correlation id. */
  quarantine(worker: number, record: RunRecord, error: string): Promise<string | undefined>
}

/** Where progress and log lines of running runs go; they are part of the result too. */
export interface ProgressStore {
  record(worker: number, entries: readonly ProgressEntry[]): Promise<void>
  clear(runIds: readonly number[]): Promise<void>
}

export interface PresenceOptions {
  readonly name: string
  readonly tags: readonly string[]
  readonly concurrency: number
  /** Null: those of its jobs. */
  readonly queues: readonly string[] | null
  /** All of its jobs, also those without a handler. */
  readonly jobNames: readonly string[]
  /** The jobs that it has handlers for. */
  readonly jobs: readonly Pick<AnyJob, 'name' | 'settings'>[]
  readonly limits: WorkerLimits
  readonly board: WorkBoardMemory
  readonly endBlockedAfterMs: number | null
  readonly logger: Logger
  /** There may be runs for us. */
  readonly onRing: () => void
  readonly onJobsChanged: () => void
  /** Somebody follows the stream, for so long. */
  readonly onTailWanted: (forMs: number) => void
  /** A beat got through. */
  readonly onBeat: (heard: HeardBeat) => void
  /** We have taken the runs of a peer that died. */
  readonly onRecovered: (recovered: RecoveredRuns) => void
  /** This worker has a new incarnation that others have not seen yet. */
  readonly onJoined: (incarnation: number) => void
}

/** A worker's presence in the installation: its registration, its lease, and who can tell it something. */
export interface WorkerPresence {
  /** 0 before it has joined. */
  readonly incarnation: number
  readonly queueNames: readonly string[]
  /** Whether so much of the lease is over that another worker may soon get our runs. */
  readonly isFenced: boolean
  running: number
  /** Declares its jobs and registers. `former`: incarnations of dead processes whose runs needn't wait for their lease. */
  join(former: ReadonlySet<number>): Promise<void>
  /** Registers as a new incarnation; retries until that succeeds, or it is stopped. */
  joinAgain(isStopping: () => boolean): Promise<void>
  /** Somebody may have changed its jobs. Returns whether it takes from other queues now; only if it may move. */
  refreshJobs(mayMove: () => boolean): Promise<boolean>
  /** It takes nothing more. Never rejects. */
  markStopping(): Promise<void>
  /** Ends the lease: nothing of it is left behind. Never rejects. */
  leave(): Promise<void>
}

export interface RunFeedOptions {
  readonly executor: Executor
  readonly board: WorkBoard
  readonly limits: WorkerLimits
  readonly concurrency: number
  /** Runs that may wait in front of the slots in any case: a handler that takes a batch finds them there. */
  readonly minLine: number
  readonly logger: Logger
  readonly worker: () => number
  /** False while stopping, draining, fenced, or with a full journal. */
  readonly mayClaim: () => boolean
  /** What a worker of this incarnation has claimed. `isOurs`, asked once when it can start: nobody has given it back meanwhile. */
  readonly take: TakeRuns
  /** Hands back a run that was not passed to `take`, but may count as ours. */
  readonly release: (run: ClaimedRun, worker: number) => void
  /** Whether this run's success waits to be stored, or was stored lately: it must not be executed again. */
  readonly hasSucceeded: (runId: number) => boolean
}

export type TakeRuns = (runs: readonly ClaimedRun[], worker: number, isOurs: () => boolean) => Promise<void>

/** Where runs come from: it keeps the slots filled and, when runs are short, a line in front of them. */
export interface RunFeed {
  start(): void
  /** Takes nothing more, and gives back what was not passed to `take`. */
  stop(): Promise<void>
  /** There may be work. */
  ring(): void
  /** A slot is free. */
  noteRoom(): void
  /** Results are stored: a limit that held us back may allow more. Left out: as noteRoom. */
  noteSettled?(): void
  /** This worker has a new incarnation, or the database may not know its latest claims. */
  reset(): void
  /** A slot for one run that this process is about to enqueue as claimed by us; null if that can't be. */
  keepSlot(): KeptSlot | null
}

export interface NotesOptions {
  readonly worker: () => number
  readonly list: (maxEntries: number) => readonly InFlight[]
  readonly logger: Logger
}

/** Records which runs are at work, so that the process that recovers them after a crash can name the interrupted attempts. */
export interface RunNotes {
  begun(): void
  stop(): Promise<void>
}
