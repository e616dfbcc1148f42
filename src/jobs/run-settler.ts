import { formatId } from '../core/delivery/ids.ts'
import { BatchCommitter, type ResultStore } from '../engine/batch-committer.ts'
import type { Logger } from '../engine/logger.ts'
import type { RunRecord } from '../storage/settle-runs.ts'
import type { Journal, JournalEntry } from './journal.ts'
import type { RunResultStore } from './link/worker-link.ts'

export interface RunSettlerOptions {
  readonly store: RunResultStore
  /** For log messages: what is unavailable. */
  readonly target: 'database' | 'broker'
  /** Null: results are kept in memory only. */
  readonly journal: Journal | null
  readonly logger: Logger
  /** These entries are committed; for refused ones only the attempt was recorded. */
  onSettled(entries: readonly JournalEntry[], refused: ReadonlySet<number>): void
}

/** The results of one incarnation, and the claims that end with them. */
interface WorkerResults {
  readonly worker: number
  readonly successes: readonly RunRecord[]
  readonly failures: readonly RunRecord[]
  readonly ended: readonly number[]
}

const maxBatchRecords = 2000

/**
 * Commits the results of runs: first to the journal, then to PostgreSQL or the broker, in the order in which they were added. While the database or
 * broker is unavailable, results wait on the disk without a time limit.
 */
export class RunSettler {
  readonly #options: RunSettlerOptions
  readonly #committer: BatchCommitter
  #arrived: JournalEntry[] = []
  #journaled: JournalEntry[] = []
  #settledNumber = 0
  /** Number of unsettled runs, by claim. */
  readonly #openRuns = new Map<number, number>()
  readonly #unsettledSuccesses = new Set<number>()
  #isScheduled = false

  constructor(options: RunSettlerOptions) {
    this.#options = options
    this.#committer = new BatchCommitter({
      logger: options.logger,
      target: options.target,
      hasMore: () => this.#journaled.length > 0,
      commitNext: () => this.#commitNext(),
      onAway: () => this.#tryJournal('forced to the disk', (journal) => journal.sync()),
    })
  }

  get unsettled(): number {
    return this.#arrived.length + this.#journaled.length
  }

  get isOffline(): boolean {
    return this.#committer.isAway
  }

  /** Whether this run's success waits to be committed: the run must not be executed again. */
  hasSucceeded(runId: number): boolean {
    return this.#unsettledSuccesses.has(runId)
  }

  /** Registers a received claim: it ends when all of its runs are settled. */
  expect(claimId: number, runs: number): void {
    this.#openRuns.set(claimId, runs)
  }

  /** This worker no longer settles this run of the claim. */
  forget(claimId: number): void {
    this.#openRuns.delete(claimId)
  }

  accept(entry: JournalEntry): void {
    this.#arrived.push(entry)
    if (entry.record.action === 'succeed') this.#unsettledSuccesses.add(entry.record.id)
    if (this.#isScheduled) return
    this.#isScheduled = true
    // Runs after this turn of the event loop, also while a batch is being committed: results of the same turn are committed together.
    setImmediate(() => {
      this.#isScheduled = false
      this.#journal()
    })
  }

  /** Adds results that an earlier process left in the journal. */
  replay(entries: readonly JournalEntry[], lastNumber: number): void {
    this.#settledNumber = lastNumber - entries.length
    this.#journaled.push(...entries)
    for (const { record } of entries) {
      if (record.action === 'succeed') this.#unsettledSuccesses.add(record.id)
    }
    this.#committer.flush()
  }

  /** Resolves when no result waits any more, or the settler was abandoned. */
  async drained(): Promise<void> {
    this.#journal()
    await this.#committer.drained()
  }

  /** The process ends: results that aren't committed stay in the journal. */
  abandon(): void {
    this.#committer.abandon()
  }

  #journal(): void {
    const entries = this.#arrived
    if (entries.length === 0) return
    this.#arrived = []
    // The disk is full: the results stay in memory, PostgreSQL may be available, and nothing is claimed until the journal can be written.
    this.#tryJournal('written', (journal) => {
      journal.append(entries)
      if (this.#committer.isAway) journal.sync()
    })
    for (const entry of entries) this.#journaled.push(entry)
    this.#committer.flush()
  }

  #tryJournal(what: string, work: (journal: Journal) => void): void {
    const { journal, logger } = this.#options
    if (journal === null) return
    try {
      work(journal)
    } catch (error) {
      logger.error({ error: String(error), results: this.unsettled }, `The journal could not be ${what}`)
    }
  }

  async #commitNext(): Promise<void> {
    const batch = this.#journaled.slice(0, maxBatchRecords)
    const refused = new Set<number>()
    if (!(await this.#commit(batch, refused))) return
    for (const { record } of batch) {
      if (record.action === 'succeed') this.#unsettledSuccesses.delete(record.id)
    }
    this.#options.onSettled(batch, refused)
    this.#journaled.splice(0, batch.length)
    this.#settledNumber += batch.length
    this.#tryJournal('written', (journal) => journal.settled(this.#settledNumber))
  }

  /**
   * Successes first, of all incarnations of this worker: a run that was executed here and claimed again is released without being executed. Its
   * success must be committed before that release, or the run could be executed again. False if abandoned.
   */
  async #commit(batch: readonly JournalEntry[], refused: Set<number>): Promise<boolean> {
    const groups = this.#byWorker(batch)
    for (const { worker, successes, failures, ended } of groups) {
      // A claim must exist while decisions refer to it, so it ends with the last statement.
      const store = this.#successStore(worker, failures.length === 0 ? ended : [])
      if (!(await this.#committer.commit(store, successes))) return false
    }
    for (const { worker, failures, ended } of groups) {
      if (!(await this.#committer.commit(this.#failureStore(worker, ended, refused), failures))) return false
    }
    return true
  }

  #byWorker(batch: readonly JournalEntry[]): WorkerResults[] {
    const byWorker = new Map<number, RunRecord[]>()
    for (const { worker, record } of batch) {
      const records = byWorker.get(worker)
      if (records === undefined) byWorker.set(worker, [record])
      else records.push(record)
    }
    return Array.from(byWorker, ([worker, records]) => {
      const failures = records.filter(({ action }) => action !== 'succeed')
      const successes = failures.length === 0 ? records : records.filter(({ action }) => action === 'succeed')
      return { worker, successes, failures, ended: this.#endedClaims(records) }
    })
  }

  #endedClaims(records: readonly RunRecord[]): number[] {
    const ended: number[] = []
    for (const { claim } of records) {
      const open = this.#openRuns.get(claim)
      if (open === undefined) continue
      if (open > 1) {
        this.#openRuns.set(claim, open - 1)
        continue
      }
      this.#openRuns.delete(claim)
      ended.push(claim)
    }
    return ended
  }

  #successStore(worker: number, ended: readonly number[]): ResultStore<RunRecord, void> {
    return {
      store: (records, isLast) => this.#options.store.settleSuccesses(worker, records, isLast ? ended : []),
      onStored() {},
      withoutTexts: (record) => (record.detail === null ? null : { ...record, detail: null }),
      quarantine: (record, cause) => this.#quarantine(worker, record, cause),
      onQuarantined() {},
    }
  }

  #failureStore(
    worker: number,
    ended: readonly number[],
    refused: Set<number>,
  ): ResultStore<RunRecord, readonly number[]> {
    return {
      store: (records, isLast) => this.#options.store.settleFailures(worker, records, isLast ? ended : []),
      onStored: (_, ids) => {
        for (const id of ids) refused.add(id)
      },
      withoutTexts: (record) =>
        record.detail === null && record.error === null ? null : { ...record, detail: null, error: null },
      quarantine: (record, cause) => this.#quarantine(worker, record, cause),
      onQuarantined() {},
    }
  }

  async #quarantine(worker: number, record: RunRecord, cause: Error): Promise<Record<string, unknown>> {
    const correlationId = await this.#options.store.quarantine(worker, record, String(cause))
    return { runId: formatId('run', record.id), correlationId }
  }
}
