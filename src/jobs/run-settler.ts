import { formatId } from '../core/delivery/ids.ts'
import type { Logger } from '../engine/logger.ts'
import { isTransientError } from '../postgres/connection-error.ts'
import type { Database } from '../storage/database.ts'
import {
  quarantineRun,
  type RunRecord,
  settleRunFailures,
  settleRunSuccesses,
} from '../storage/settle-runs.ts'
import type { Journal, JournalEntry } from './journal.ts'

export interface RunSettlerOptions {
  readonly database: Database
  /** Null: results are kept in memory only. */
  readonly journal: Journal | null
  readonly logger: Logger
  /** These are committed; of the refused ones only the attempt was recorded. */
  onSettled(entries: readonly JournalEntry[], refused: ReadonlySet<number>): void
}

/** What one incarnation has to say, and the claims that end with it. */
interface WorkerResults {
  readonly worker: number
  readonly successes: readonly RunRecord[]
  readonly failures: readonly RunRecord[]
  readonly ended: readonly number[]
}

const maxBatchRecords = 2000
const maxBackoffMs = 1000

/**
 * Hands results in: first to the journal, then to PostgreSQL, in the order in which they came. One flush is under way at a time, and the next
 * carries what arrived meanwhile. While the database is away results wait, on the disk, for as long as it takes.
 */
export class RunSettler {
  readonly #options: RunSettlerOptions
  #arrived: JournalEntry[] = []
  #journaled: JournalEntry[] = []
  #settledNumber = 0
  /** How many runs of a claim are not settled yet, by claim. */
  readonly #openRuns = new Map<number, number>()
  readonly #unsettledSuccesses = new Set<number>()
  #isScheduled = false
  #isFlushing = false
  #isOffline = false
  #isAbandoned = false
  #idle: (() => void)[] = []

  constructor(options: RunSettlerOptions) {
    this.#options = options
  }

  get unsettled(): number {
    return this.#arrived.length + this.#journaled.length
  }

  get isOffline(): boolean {
    return this.#isOffline
  }

  /** Whether this run's success waits to be handed in: it must not be executed again. */
  hasSucceeded(runId: number): boolean {
    return this.#unsettledSuccesses.has(runId)
  }

  /** A claim came in: it ends when all of its runs are settled. */
  expect(claimId: number, runs: number): void {
    this.#openRuns.set(claimId, runs)
  }

  /** A run of this claim is no longer ours to settle. */
  forget(claimId: number): void {
    this.#openRuns.delete(claimId)
  }

  accept(entry: JournalEntry): void {
    this.#arrived.push(entry)
    if (entry.record.action === 'succeed') this.#unsettledSuccesses.add(entry.record.id)
    if (this.#isScheduled) return
    this.#isScheduled = true
    // After this turn of the loop: whatever else ends in it travels along.
    setImmediate(() => {
      this.#isScheduled = false
      this.#journal()
    })
  }

  /** What an earlier process left in the journal; it is there already. */
  replay(entries: readonly JournalEntry[], lastNumber: number): void {
    this.#settledNumber = lastNumber - entries.length
    this.#journaled.push(...entries)
    for (const { record } of entries) {
      if (record.action === 'succeed') this.#unsettledSuccesses.add(record.id)
    }
    void this.#flush()
  }

  /** Resolves when nothing waits any more, or it was given up. */
  async drained(): Promise<void> {
    if (this.unsettled === 0 && !this.#isFlushing) return
    await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  /** The process ends: what the database hasn't taken stays in the journal. */
  abandon(): void {
    this.#isAbandoned = true
    if (!this.#isFlushing) this.#wakeIdle()
  }

  #journal(): void {
    const entries = this.#arrived
    if (entries.length === 0) return
    this.#arrived = []
    const { journal, logger } = this.#options
    try {
      if (journal !== null) {
        journal.append(entries)
        if (this.#isOffline) journal.sync()
      }
    } catch (error) {
      // A full disk: the results are in memory, PostgreSQL may be there, and nothing is claimed until the journal takes them.
      logger.error({ error: String(error), results: entries.length }, 'The journal could not be written')
    }
    for (const entry of entries) this.#journaled.push(entry)
    void this.#flush()
  }

  async #flush(): Promise<void> {
    if (this.#isFlushing) return
    this.#isFlushing = true
    while (this.#journaled.length > 0 && !this.#isAbandoned) {
      const batch = this.#journaled.slice(0, maxBatchRecords)
      await this.#settle(batch)
      if (this.#isAbandoned && this.#isOffline) break
      this.#journaled.splice(0, batch.length)
      this.#settledNumber += batch.length
      try {
        this.#options.journal?.settled(this.#settledNumber)
      } catch (error) {
        this.#options.logger.error({ error: String(error) }, 'The journal could not be written')
      }
    }
    this.#isFlushing = false
    if (this.#journaled.length === 0 || this.#isAbandoned) this.#wakeIdle()
  }

  #wakeIdle(): void {
    for (const resolve of this.#idle.splice(0)) resolve()
  }

  /**
   * Successes first, of all workers that we have been: a run that was done here and claimed once more is handed back untried, and must be gone by
   * then, or it could be claimed again and run.
   */
  async #settle(batch: readonly JournalEntry[]): Promise<void> {
    const refused = new Set<number>()
    const groups = this.#byWorker(batch)
    for (const { worker, successes, failures, ended } of groups) {
      // A claim must be there while decisions ask for it, so that it ends with the last statement.
      const endedNow = failures.length === 0 ? ended : []
      if (successes.length > 0) await this.#settleSuccesses(worker, successes, endedNow)
      if (this.#isAbandoned && this.#isOffline) return
    }
    for (const { worker, failures, ended } of groups) {
      if (failures.length === 0) continue
      for (const id of await this.#settleFailures(worker, failures, ended)) refused.add(id)
      if (this.#isAbandoned && this.#isOffline) return
    }
    for (const { record } of batch) {
      if (record.action === 'succeed') this.#unsettledSuccesses.delete(record.id)
    }
    this.#options.onSettled(batch, refused)
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

  async #settleSuccesses(
    worker: number,
    records: readonly RunRecord[],
    ended: readonly number[],
  ): Promise<void> {
    const error = await this.#untilConnected(async () => {
      await settleRunSuccesses(this.#options.database, worker, records, ended, Date.now())
    })
    if (error === null || this.#isAbandoned) return
    const [first] = records
    if (records.length > 1) {
      const middle = records.length >> 1
      await this.#settleSuccesses(worker, records.slice(0, middle), [])
      await this.#settleSuccesses(worker, records.slice(middle), ended)
    } else if (first !== undefined && first.detail !== null) {
      await this.#settleSuccesses(worker, [{ ...first, detail: null }], ended)
    } else if (first !== undefined) {
      await this.#quarantine(worker, first, error, () => this.#settleSuccesses(worker, records, ended))
    }
  }

  async #settleFailures(
    worker: number,
    records: readonly RunRecord[],
    ended: readonly number[],
  ): Promise<readonly number[]> {
    let refused: readonly number[] = []
    const error = await this.#untilConnected(async () => {
      refused = await settleRunFailures(this.#options.database, worker, records, ended, Date.now())
    })
    if (error === null || this.#isAbandoned) return refused
    const [first] = records
    if (records.length > 1) {
      const middle = records.length >> 1
      const before = await this.#settleFailures(worker, records.slice(0, middle), [])
      return [...before, ...(await this.#settleFailures(worker, records.slice(middle), ended))]
    }
    if (first !== undefined && (first.detail !== null || first.error !== null)) {
      // The decision counts more than the words.
      return this.#settleFailures(worker, [{ ...first, detail: null, error: null }], ended)
    }
    if (first === undefined) return refused
    const settleAgain = async () => {
      refused = await this.#settleFailures(worker, records, ended)
    }
    await this.#quarantine(worker, first, error, settleAgain)
    return refused
  }

  /** A database that doesn't even take it into quarantine takes nothing: that says nothing of this result, which is handed in again. */
  async #quarantine(
    worker: number,
    record: RunRecord,
    cause: Error,
    settleAgain: () => Promise<void>,
  ): Promise<void> {
    const { database, logger } = this.#options
    let correlationId: string | undefined
    const error = await this.#untilConnected(async () => {
      correlationId = await quarantineRun(database, worker, record, String(cause))
    })
    if (error !== null) {
      this.#isOffline = true
      logger.error(
        { cause: String(cause), error: String(error) },
        'The database rejects results and quarantine rows; retrying',
      )
      if (this.#isAbandoned) return
      await new Promise((resolve) => setTimeout(resolve, maxBackoffMs))
      await settleAgain()
      return
    }
    logger.error(
      { runId: formatId('run', record.id), correlationId, error: String(cause) },
      'The database rejected a result; it is in quarantine and is tried again. See: holdfast quarantine list',
    )
  }

  #sync(): void {
    try {
      this.#options.journal?.sync()
    } catch (error) {
      this.#options.logger.error({ error: String(error) }, 'The journal could not be forced to the disk')
    }
  }

  /** Null when the work is done; the error when trying again can't help. Waits for the database as long as it takes. */
  async #untilConnected(work: () => Promise<void>): Promise<Error | null> {
    let backoffMs = 25
    for (;;) {
      try {
        await work()
        this.#isOffline = false
        return null
      } catch (error) {
        if (!isTransientError(error)) return error instanceof Error ? error : new Error(String(error))
        if (!this.#isOffline) {
          this.#isOffline = true
          this.#options.logger.warn(
            { error: String(error) },
            'The database is away; results wait in the journal',
          )
          this.#sync()
        }
        if (this.#isAbandoned) return error instanceof Error ? error : new Error(String(error))
        await new Promise((resolve) => setTimeout(resolve, backoffMs))
        backoffMs = Math.min(backoffMs * 2, maxBackoffMs)
      }
    }
  }
}
