import { formatId } from '../core/delivery/ids.ts'
import type { Database } from '../storage/database.ts'
import {
  type FailureRecord,
  type LaneTally,
  quarantineRecord,
  type SettledBatch,
  type SuccessRecord,
  settleAll,
  settleFailures,
  settleSuccesses,
} from '../storage/settle.ts'
import { BatchCommitter, type ResultStore } from './batch-committer.ts'
import type { Clock } from './clock.ts'
import type { Lane } from './lane.ts'
import type { NodeLimits } from './limits.ts'
import type { Logger } from './logger.ts'

export interface SettledFailure {
  readonly record: FailureRecord
  /** Another node owned the lane: the decision changed nothing. */
  readonly isRefused: boolean
}

export interface DeliverySettlerOptions {
  readonly database: Database
  readonly clock: Clock
  readonly logger: Logger
  readonly limits: Pick<NodeLimits, 'maxUnsettled'>
  incarnation(): number
  /** Number of attempts in flight: without any, no further results are expected. */
  inFlight(): number
  /** The effect of this lane's results since the last flush on its circuit; null if its settings have become unusable. */
  takeTally(lane: Lane): LaneTally | null
  onSuccessesSettled(records: readonly SuccessRecord[]): void
  onFailuresSettled(settled: readonly SettledFailure[]): void
  /** The results of these lanes have been recorded; the circuits of those in `changed` must be read again. */
  onTalliesSettled(lanes: readonly Lane[], changed: ReadonlySet<number>): void
  /** A record that PostgreSQL rejects in any form. */
  onQuarantined(record: SuccessRecord | FailureRecord): void
}

interface Batch {
  readonly successes: readonly SuccessRecord[]
  readonly failures: readonly FailureRecord[]
  readonly tallies: readonly LaneTally[]
}

/** Half of the results that may wait: one batch is committed while the next one fills up. */
const maxBatchRecords = 1000
/**
 * A batch of this size indicates that more results will follow shortly. Waiting for them pays: a commit
 * costs the same for ten results as for hundreds.
 */
const busyBatchRecords = 32
const gatherMs = 15
const maxGathered = 400

/**
 * Commits the results of deliveries and their effects on circuits. A busy node collects results for a moment first, except
 * decisions and results that free an ordering key, which other work waits for.
 */
export class DeliverySettler {
  readonly #options: DeliverySettlerOptions
  readonly #committer: BatchCommitter
  readonly #successStore: ResultStore<SuccessRecord, void>
  readonly #failureStore: ResultStore<FailureRecord, SettledBatch>
  readonly #successes: SuccessRecord[] = []
  readonly #failures: FailureRecord[] = []
  readonly #lanesWithNews = new Set<Lane>()
  #unsettled = 0
  #lastBatchMs = Number.NEGATIVE_INFINITY
  #batchNumber = 0
  /** Other work waits for an uncommitted result. */
  #isUrgent = false
  #endGathering: (() => void) | null = null

  constructor(options: DeliverySettlerOptions) {
    this.#options = options
    this.#committer = new BatchCommitter({
      logger: options.logger,
      hasMore: () => this.#successes.length > 0 || this.#failures.length > 0 || this.#lanesWithNews.size > 0,
      commitNext: () => this.#commitNext(),
    })
    const quarantining = {
      quarantine: (record: SuccessRecord | FailureRecord, cause: Error) => this.#quarantine(record, cause),
      onQuarantined: (record: SuccessRecord | FailureRecord) => {
        this.#unsettled -= 1
        options.onQuarantined(record)
      },
    }
    this.#successStore = {
      ...quarantining,
      store: (records) =>
        settleSuccesses(options.database, options.incarnation(), records, options.clock.monotonicMs()),
      onStored: (records) => this.#concludeSuccesses(records),
      withoutTexts: (record) => {
        if (record.detail === undefined || record.detail === null) return null
        record.detail = null
        return record
      },
    }
    this.#failureStore = {
      ...quarantining,
      // No circuit is affected, so any batch number will do: the number only guards circuits.
      store: (failures) => this.#store({ successes: [], failures, tallies: [] }, 0),
      onStored: (records, answer) => this.#concludeFailures(records, answer),
      withoutTexts: (record) =>
        record.detail === null && record.error === null ? null : { ...record, detail: null, error: null },
    }
  }

  /** Results that wait for their commit. */
  get unsettled(): number {
    return this.#unsettled
  }

  /** Start of the last batch, on the monotonic clock. */
  get lastBatchMs(): number {
    return this.#lastBatchMs
  }

  succeed(record: SuccessRecord): void {
    this.#successes.push(record)
    this.#unsettled += 1
    if (record.orderingKey !== null) this.#hurry()
    else if (this.#hasEnough) this.#endGathering?.()
    this.#committer.flushSoon()
  }

  fail(record: FailureRecord): void {
    this.#failures.push(record)
    this.#unsettled += 1
    this.#hurry()
    this.#committer.flushSoon()
  }

  /** The lane has health results to record. */
  noteNews(lane: Lane): void {
    this.#lanesWithNews.add(lane)
    this.#hurry()
    this.#committer.flushSoon()
  }

  /** Resolves when no results are waiting. */
  async drained(): Promise<void> {
    const drained = this.#committer.drained()
    this.#hurry()
    await drained
  }

  /** Abandons results that can't be committed, e.g. because the database stays unavailable past the stop deadline. */
  abandon(): void {
    this.#committer.abandon()
    this.#endGathering?.()
  }

  async #commitNext(): Promise<void> {
    this.#lastBatchMs = this.#options.clock.monotonicMs()
    const successes = this.#successes.splice(0, maxBatchRecords)
    const failures = this.#failures.splice(0, maxBatchRecords)
    const lanes = [...this.#lanesWithNews]
    this.#lanesWithNews.clear()
    this.#isUrgent = this.#successes.length + this.#failures.length > 0
    const tallies = lanes.map((lane) => this.#options.takeTally(lane)).filter((tally) => tally !== null)
    const changed = await this.#commit({ successes, failures, tallies })
    if (lanes.length > 0) this.#options.onTalliesSettled(lanes, changed)
    if (successes.length >= busyBatchRecords) await this.#gather()
  }

  /** Commits a batch, in one transaction if possible. Returns the lanes whose circuits must be read again. */
  async #commit(batch: Batch): Promise<ReadonlySet<number>> {
    const { successes, failures, tallies } = batch
    const changed = new Set<number>()
    const isMixed = tallies.length > 0 || (successes.length > 0 && failures.length > 0)
    const error = isMixed ? await this.#commitTogether(batch, changed) : undefined
    if (error === null || this.#committer.isAbandoned) return changed
    // Only one kind of result, or one of them can't be stored: each kind separately, split in halves until the bad result is alone.
    await this.#committer.commit(this.#successStore, successes)
    if (isMixed && successes.length > 0) return this.#commit({ ...batch, successes: [] })
    await this.#committer.commit(this.#failureStore, failures)
    // Each circuit separately: a broken row of one must affect neither a delivery nor another circuit.
    for (const tally of tallies) await this.#commitTally(tally, changed)
    return changed
  }

  async #commitTally(tally: LaneTally, changed: Set<number>): Promise<void> {
    // The circuit is read again, whatever the result was.
    changed.add(tally.lane)
    if (this.#committer.isAbandoned) return
    const error = await this.#commitTogether({ successes: [], failures: [], tallies: [tally] }, changed)
    if (error === null) return
    this.#options.logger.error({ error: String(error), tally }, 'A circuit could not be updated')
  }

  /** Returns null if the whole batch is stored. */
  async #commitTogether(batch: Batch, changed: Set<number>): Promise<Error | null> {
    this.#batchNumber += 1
    const number = this.#batchNumber
    const attempt = await this.#committer.attempt(() => this.#store(batch, number))
    if (!attempt.isDone) return attempt.error
    this.#concludeSuccesses(batch.successes)
    this.#concludeFailures(batch.failures, attempt.answer)
    for (const laneId of attempt.answer.changedLanes) changed.add(laneId)
    return null
  }

  /** Repeating the same batch uses the same number. */
  #store({ successes, failures, tallies }: Batch, number: number): Promise<SettledBatch> {
    const { clock, database } = this.#options
    const mark = { number, nowMs: clock.monotonicMs() }
    const incarnation = this.#options.incarnation()
    return successes.length === 0
      ? settleFailures(database, incarnation, failures, tallies, mark)
      : settleAll(database, incarnation, successes, failures, tallies, mark)
  }

  async #quarantine(record: SuccessRecord | FailureRecord, cause: Error): Promise<Record<string, unknown>> {
    await quarantineRecord(this.#options.database, this.#options.incarnation(), record, String(cause))
    return { deliveryId: formatId('dlv', record.id) }
  }

  #concludeSuccesses(records: readonly SuccessRecord[]): void {
    if (records.length === 0) return
    this.#unsettled -= records.length
    this.#options.onSuccessesSettled(records)
  }

  #concludeFailures(records: readonly FailureRecord[], batch: SettledBatch): void {
    if (records.length === 0) return
    this.#unsettled -= records.length
    const refused = new Set(batch.refused)
    this.#options.onFailuresSettled(records.map((record) => ({ record, isRefused: refused.has(record.id) })))
  }

  async #gather(): Promise<void> {
    if (this.#isUrgent || this.#committer.isAwaited || this.#hasEnough) return
    if (this.#committer.isAbandoned || this.#options.inFlight() === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, gatherMs)
      this.#endGathering = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#endGathering = null
  }

  /** Well below the number at which dispatch stops because too many results wait. */
  get #hasEnough(): boolean {
    return this.#successes.length >= Math.min(maxGathered, this.#options.limits.maxUnsettled >> 1)
  }

  #hurry(): void {
    this.#isUrgent = true
    this.#endGathering?.()
  }
}
