import { isTransientError } from '../postgres/connection-error.ts'
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
import type { Clock } from './clock.ts'
import type { Lane } from './lane.ts'
import type { NodeLimits } from './limits.ts'
import type { Logger } from './logger.ts'

export interface SettledFailure {
  readonly record: FailureRecord
  /** The lane was no longer ours: the decision changed nothing. */
  readonly isRefused: boolean
}

export interface SettlerOptions {
  readonly database: Database
  readonly clock: Clock
  readonly logger: Logger
  readonly limits: Pick<NodeLimits, 'maxUnsettled'>
  incarnation(): number
  /** Attempts that are out: without any, no more results are to be waited for. */
  inFlight(): number
  /** What this lane's results since the last flush mean for its circuit; null when its settings have become unusable. */
  takeTally(lane: Lane): LaneTally | null
  onSuccessesSettled(records: readonly SuccessRecord[]): void
  onFailuresSettled(settled: readonly SettledFailure[]): void
  /** The results of these lanes have been recorded; the circuits of those in `changed` must be read again. */
  onTalliesSettled(lanes: readonly Lane[], changed: ReadonlySet<number>): void
  /** A record that PostgreSQL won't take in any form. */
  onQuarantined(record: SuccessRecord | FailureRecord): void
}

const maxBackoffMs = 1000
/** Half of what may wait: while one batch is being committed, the next fills up. */
const maxBatchRecords = 1000
/** A batch of so many says that more will follow shortly, and are worth a wait: a commit costs the same for ten as for hundreds. */
const busyBatchRecords = 32
const gatherMs = 15
const maxGathered = 400

/**
 * Commits results in batches: one flush is under way at a time, and the next carries everything that arrived meanwhile. The batch so
 * grows with the load, and an idle node commits a single result at once. A busy one lets results come together for a moment first, but
 * for those that somebody waits for: decisions, and what frees an ordering key.
 *
 * A flush that lost its connection is run again as it was: every statement in it is guarded, so that a second run changes
 * nothing. One that fails on data is cut in halves until the bad record stands alone.
 */
export class Settler {
  readonly #options: SettlerOptions
  readonly #successes: SuccessRecord[] = []
  readonly #failures: FailureRecord[] = []
  readonly #lanesWithNews = new Set<Lane>()
  #unsettled = 0
  #lastBatchMs = Number.NEGATIVE_INFINITY
  #batchNumber = 0
  #isFlushing = false
  #isScheduled = false
  #isStopped = false
  /** Somebody waits for a result that isn't committed yet. */
  #isUrgent = false
  #endGathering: (() => void) | null = null
  #idle: (() => void)[] = []

  constructor(options: SettlerOptions) {
    this.#options = options
  }

  /** Results that wait for their commit. */
  get unsettled(): number {
    return this.#unsettled
  }

  /** When the last batch was begun, on the monotonic clock. */
  get lastBatchMs(): number {
    return this.#lastBatchMs
  }

  get isIdle(): boolean {
    return !this.#isFlushing && this.#unsettled === 0 && this.#lanesWithNews.size === 0
  }

  succeed(record: SuccessRecord): void {
    this.#successes.push(record)
    this.#unsettled += 1
    if (record.orderingKey !== null) this.#hurry()
    else if (this.#hasEnough) this.#endGathering?.()
    this.#schedule()
  }

  fail(record: FailureRecord): void {
    this.#failures.push(record)
    this.#unsettled += 1
    this.#hurry()
    this.#schedule()
  }

  /** The lane has news of its health. */
  noteNews(lane: Lane): void {
    this.#lanesWithNews.add(lane)
    this.#hurry()
    this.#schedule()
  }

  /** Resolves when nothing waits any more. */
  async drained(): Promise<void> {
    if (this.isIdle) return
    this.#hurry()
    await new Promise<void>((resolve) => this.#idle.push(resolve))
  }

  /** Gives up on what can't be committed, e.g. because the database stays away past the stop deadline. */
  abandon(): void {
    this.#isStopped = true
    this.#endGathering?.()
  }

  #schedule(): void {
    if (this.#isFlushing || this.#isScheduled) return
    this.#isScheduled = true
    // After this turn of the loop: whatever else is settled in it travels along.
    setImmediate(() => {
      this.#isScheduled = false
      void this.#flush()
    })
  }

  async #flush(): Promise<void> {
    if (this.#isFlushing) return
    this.#isFlushing = true
    while (
      !this.#isStopped &&
      (this.#successes.length > 0 || this.#failures.length > 0 || this.#lanesWithNews.size > 0)
    ) {
      this.#lastBatchMs = this.#options.clock.monotonicMs()
      const successes = this.#successes.splice(0, maxBatchRecords)
      const failures = this.#failures.splice(0, maxBatchRecords)
      const lanes = [...this.#lanesWithNews]
      this.#lanesWithNews.clear()
      this.#isUrgent = this.#successes.length + this.#failures.length > 0
      const tallies = lanes.map((lane) => this.#options.takeTally(lane)).filter((tally) => tally !== null)
      const changed = await this.#settleAll(successes, failures, tallies)
      if (lanes.length > 0) this.#options.onTalliesSettled(lanes, changed)
      if (successes.length >= busyBatchRecords) await this.#gather()
    }
    this.#isFlushing = false
    if (this.isIdle || this.#isStopped) {
      for (const resolve of this.#idle.splice(0)) resolve()
    }
  }

  async #gather(): Promise<void> {
    if (this.#isUrgent || this.#idle.length > 0 || this.#hasEnough) return
    if (this.#options.inFlight() === 0) return
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, gatherMs)
      this.#endGathering = () => {
        clearTimeout(timer)
        resolve()
      }
    })
    this.#endGathering = null
  }

  /** Long before dispatch stops for want of commits. */
  get #hasEnough(): boolean {
    return this.#successes.length >= Math.min(maxGathered, this.#options.limits.maxUnsettled >> 1)
  }

  #hurry(): void {
    this.#isUrgent = true
    this.#endGathering?.()
  }

  /** Returns the lanes whose circuits must be read again. */
  async #settleAll(
    successes: readonly SuccessRecord[],
    failures: readonly FailureRecord[],
    tallies: readonly LaneTally[],
  ): Promise<ReadonlySet<number>> {
    const changed = new Set<number>()
    const hasFailures = failures.length > 0 || tallies.length > 0
    if (successes.length > 0 && hasFailures) {
      const { database } = this.#options
      const outcome: { batch: SettledBatch | null } = { batch: null }
      const mark = this.#nextBatchNumber()
      await this.#untilConnected(async () => {
        const batch = { number: mark, nowMs: this.#options.clock.monotonicMs() }
        const incarnation = this.#options.incarnation()
        outcome.batch = await settleAll(database, incarnation, successes, failures, tallies, batch)
      })
      if (outcome.batch !== null) {
        this.#concludeSuccesses(successes)
        this.#concludeFailures(failures, outcome.batch)
        for (const laneId of outcome.batch.changedLanes) changed.add(laneId)
        return changed
      }
      if (this.#isStopped) return changed
      // Something in it can't be stored: successes and failures apart, and then each in halves, until it stands alone.
    }
    if (successes.length > 0) await this.#settleSuccesses(successes)
    if (hasFailures) await this.#settleFailures(failures, tallies, changed)
    return changed
  }

  #nextBatchNumber(): number {
    this.#batchNumber += 1
    return this.#batchNumber
  }

  #concludeSuccesses(records: readonly SuccessRecord[]): void {
    this.#unsettled -= records.length
    this.#options.onSuccessesSettled(records)
  }

  #concludeFailures(records: readonly FailureRecord[], batch: SettledBatch): void {
    if (records.length === 0) return
    this.#unsettled -= records.length
    const refused = new Set(batch.refused)
    this.#options.onFailuresSettled(records.map((record) => ({ record, isRefused: refused.has(record.id) })))
  }

  async #settleSuccesses(records: readonly SuccessRecord[]): Promise<void> {
    const error = await this.#untilConnected(async () => {
      await settleSuccesses(
        this.#options.database,
        this.#options.incarnation(),
        records,
        this.#options.clock.monotonicMs(),
      )
    })
    if (error === null) {
      this.#concludeSuccesses(records)
      return
    }
    if (this.#isStopped) return
    const [first] = records
    if (records.length === 1 && first !== undefined) {
      await this.#quarantine(first, error, () => this.#settleSuccesses(records))
      return
    }
    const middle = records.length >> 1
    await this.#settleSuccesses(records.slice(0, middle))
    await this.#settleSuccesses(records.slice(middle))
  }

  async #settleFailures(
    records: readonly FailureRecord[],
    tallies: readonly LaneTally[],
    changed: Set<number>,
  ): Promise<void> {
    let batch: SettledBatch = { refused: [], changedLanes: [] }
    const number = this.#nextBatchNumber()
    const error = await this.#untilConnected(async () => {
      batch = await settleFailures(this.#options.database, this.#options.incarnation(), records, tallies, {
        number,
        nowMs: this.#options.clock.monotonicMs(),
      })
    })
    if (error === null) {
      this.#concludeFailures(records, batch)
      for (const laneId of batch.changedLanes) changed.add(laneId)
      return
    }
    // Whatever became of them: look.
    for (const tally of tallies) changed.add(tally.lane)
    if (tallies.length > 0 && records.length + tallies.length > 1) {
      // Each circuit apart: a broken row of one must not condemn a delivery, nor another circuit.
      if (records.length > 0) await this.#settleFailures(records, [], changed)
      for (const tally of tallies) await this.#settleFailures([], [tally], changed)
      return
    }
    if (this.#isStopped) return
    const [first] = records
    if (first === undefined) {
      this.#options.logger.error({ error: String(error), tallies }, 'A circuit could not be updated')
      return
    }
    if (records.length === 1) {
      await this.#settleBare(first, error, changed)
      return
    }
    const middle = records.length >> 1
    await this.#settleFailures(records.slice(0, middle), [], changed)
    await this.#settleFailures(records.slice(middle), [], changed)
  }

  /** What a receiver said may be what PostgreSQL refuses (a NUL, say). The decision counts more than the words. */
  async #settleBare(record: FailureRecord, error: Error, changed: Set<number>): Promise<void> {
    const isBare = record.detail === null && record.error === null
    if (isBare) {
      await this.#quarantine(record, error, () => this.#settleFailures([record], [], changed))
      return
    }
    this.#options.logger.warn(
      { deliveryId: record.id, error: String(error) },
      'A result could not be stored as it was; storing it without its texts',
    )
    await this.#settleFailures([{ ...record, detail: null, error: null }], [], changed)
  }

  /** A database that doesn't even take it into quarantine takes nothing: that says nothing of this record, which is settled again. */
  async #quarantine(
    record: SuccessRecord | FailureRecord,
    cause: Error,
    settleAgain: () => Promise<void>,
  ): Promise<void> {
    const { database, logger } = this.#options
    const error = await this.#untilConnected(() =>
      quarantineRecord(database, this.#options.incarnation(), record, String(cause)),
    )
    if (this.#isStopped) return
    if (error !== null) {
      logger.error(
        { cause: String(cause), error: String(error) },
        'The database rejects results and quarantine rows; retrying',
      )
      await new Promise((resolve) => setTimeout(resolve, maxBackoffMs))
      await settleAgain()
      return
    }
    logger.error(
      { deliveryId: record.id, error: String(cause) },
      'The database rejected a result; it is in quarantine and is tried again. See: holdfast quarantine list',
    )
    this.#unsettled -= 1
    this.#options.onQuarantined(record)
  }

  /** Null when the work is done; the error when trying again can't help. Waits for the database as long as it takes. */
  async #untilConnected(work: () => Promise<void>): Promise<Error | null> {
    let backoffMs = 25
    for (;;) {
      try {
        await work()
        return null
      } catch (error) {
        if (this.#isStopped || !isTransientError(error)) {
          return error instanceof Error ? error : new Error(String(error))
        }
        this.#options.logger.warn(
          { error: String(error) },
          'The database is away or overloaded; results wait',
        )
        await new Promise((resolve) => setTimeout(resolve, backoffMs))
        backoffMs = Math.min(backoffMs * 2, maxBackoffMs)
      }
    }
  }
}
