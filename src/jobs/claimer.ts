import { SleepProtocol } from '../engine/sleep-protocol.ts'
import { isTransientError } from '../postgres/connection-error.ts'
import { type ClaimHint, type ClaimResult, claimRuns } from '../storage/claim-runs.ts'
import type { Database } from '../storage/database.ts'
import { setWorkerAsleep } from '../storage/workers.ts'
import { ClaimRequests } from './claim-requests.ts'
import { LineLength } from './line-length.ts'
import type { RunFeed, RunFeedOptions } from './link/worker-link.ts'
import type { KeptSlot } from './local-workers.ts'
import { withDeadline } from './with-deadline.ts'

export interface ClaimerOptions extends RunFeedOptions {
  readonly database: Database
  readonly laneIds: () => readonly number[]
  /** The jobs that we have handlers for, by id. */
  readonly jobIds: () => readonly number[]
  /** Whether a notification can reach us. */
  readonly canBeRung: () => boolean
  /** False where enqueuers may prepare their transactions, and so ring nobody. */
  readonly areAllRungFor: () => boolean
}

/** Half of what a claim of 500 costs is the same for one run (3.1 of 5.8 ms, on a busy machine): larger ones pay while runs are short. */
const maxBatchRuns = 2000
/**
 * So many in one look, or so many a second, are worth staying awake for: ringing costs the enqueuing transaction a database-wide lock. Fewer are
 * better rung for: a worker that is awake only looks every few milliseconds.
 */
const busyRuns = 64
const busyRatePerMs = 0.2
/** Bodies of one claim; and a worker whose line holds as much claims nothing more. A single run passes whatever its size. */
const maxClaimBytes = 16 * 1024 * 1024
/** Runs of one ordering key that are claimed together: at 10 ms a claim, one key alone gets to 5,000 a second. */
const maxChain = 50
/** A queue or job that is at its limit is looked at again after this time (claim_room, job_rooms), or when results of ours are stored. */
const heldBackMs = 50
/** How long a stop waits for the answers to what is just being enqueued for us. */
const keptSlotDeadlineMs = 5000

/**
 * Takes runs from PostgreSQL: the one loop that claims. It keeps the slots filled and, when runs are short, a line in front of them, whose length follows from how fast it
 * empties.
 */
export class Claimer implements RunFeed {
  readonly #options: ClaimerOptions
  readonly #requests: ClaimRequests
  readonly #sleep: SleepProtocol
  readonly #line: LineLength
  /** Fewer after a claim that failed: what it asked for may have been too much for the server's memory or the statement's time. */
  #maxRuns = maxBatchRuns
  #isStopped = false
  #isLooking = false
  /** The last look was told to come back soon. */
  #isHeldBack = false
  #firstLane = 0
  /** Slots that are kept for runs which this process enqueues just now. */
  readonly #kept = new Set<Promise<void>>()
  #running: Promise<void> | null = null

  constructor(options: ClaimerOptions) {
    this.#options = options
    const { areAllRungFor, board, canBeRung, database, executor, limits, logger, worker } = options
    this.#line = new LineLength(limits.maxPrefetch, () => executor.completed)
    this.#requests = new ClaimRequests(database, board, logger)
    this.#sleep = new SleepProtocol({
      limits,
      monotonicMs: () => performance.now(),
      canBeRung,
      areAllRungFor,
      setAsleep: (isAsleep) => setWorkerAsleep(database, worker(), isAsleep),
    })
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#sleep.wake()
    await this.#running
    // What comes in later isn't begun, and goes back when the worker retires.
    await withDeadline(this.#untilSlotsAreFilled(), keptSlotDeadlineMs)
  }

  /** There may be work. */
  ring(): void {
    this.#sleep.ring()
  }

  /** A slot is free. */
  noteRoom(): void {
    if (this.#room() > 0) this.#sleep.wake()
  }

  /** Results are stored: where a limit held us back, it may allow more. */
  noteSettled(): void {
    if (this.#isHeldBack) this.#sleep.ring()
    else this.noteRoom()
  }

  /** A new incarnation starts awake. */
  reset(): void {
    this.#sleep.reset()
  }

  /**
   * A slot for one run that is stored as claimed by us. Only while we sleep: then the last look found less than was wanted, and a worker that has
   * stored something since rings, so that the run overtakes nothing that has waited.
   */
  keepSlot(): KeptSlot | null {
    const { executor, concurrency, mayClaim } = this.#options
    const mayLook = this.#isLooking || this.#sleep.isLookDue
    if (!this.#sleep.isAsleep || mayLook || this.#isStopped) return null
    if (this.#requests.hasLost || !mayClaim()) return null
    if (executor.busySlots + executor.queuedCount + this.#kept.size >= concurrency) return null
    const worker = this.#options.worker()
    const request = this.#requests.next()
    let tell = () => {}
    const ended = new Promise<void>((resolve) => {
      tell = resolve
    })
    this.#kept.add(ended)
    const isOurs = () => this.#requests.answered(request)
    const end = () => {
      isOurs()
      this.#kept.delete(ended)
      tell()
      this.noteRoom()
    }
    const giveUp = () => {
      this.#requests.lose(worker, request)
      this.ring()
      end()
    }
    return {
      worker,
      request,
      fill: (run) => void this.#options.take([run], worker, isOurs).then(end, giveUp),
      free: end,
      giveUp,
    }
  }

  async #untilSlotsAreFilled(): Promise<void> {
    await Promise.all(this.#kept)
    // What can't be given back now goes back when the worker retires.
    await this.#requests.giveBack().catch(() => {})
  }

  /** How many to claim: enough for the free slots and the line, but not so few that a claim doesn't pay. */
  #room(): number {
    const { executor, concurrency } = this.#options
    if (executor.queuedBytes >= maxClaimBytes) return 0
    const line = Math.max(this.#line.runs, this.#options.minLine)
    const room = concurrency + line - executor.busySlots - executor.queuedCount - this.#kept.size
    const isWorthIt =
      room >= Math.min(maxBatchRuns / 2, (concurrency + line) / 2) || executor.queuedCount === 0
    return isWorthIt ? Math.min(room, this.#maxRuns) : 0
  }

  async #run(): Promise<void> {
    let backoffMs = 10
    while (!this.#isStopped) {
      const room = this.#options.mayClaim() ? this.#room() : 0
      const isDue = this.#sleep.isLookDue
      if (this.#requests.hasLost || (room > 0 && isDue)) {
        try {
          await this.#requests.giveBack()
          if (room > 0 && isDue) await this.#look(room)
          backoffMs = 10
        } catch (error) {
          const level = isTransientError(error) ? 'warn' : 'error'
          this.#options.logger[level]({ error: String(error) }, 'Claiming failed')
          await this.#sleep.wait(backoffMs)
          backoffMs = Math.min(backoffMs * 2, 1000)
          this.#sleep.lookAgain()
        }
        continue
      }
      await this.#sleep.wait(room > 0 ? this.#sleep.untilPollMs : Number.POSITIVE_INFINITY)
    }
  }

  async #look(room: number): Promise<void> {
    this.#isLooking = true
    try {
      await this.#lookThroughLanes(room)
    } finally {
      this.#isLooking = false
    }
  }

  async #lookThroughLanes(room: number): Promise<void> {
    this.#sleep.beginLook()
    let left = room
    let taken = 0
    let hint: ClaimHint | null = null
    let waitMs = Number.POSITIVE_INFINITY
    let xmin = Number.POSITIVE_INFINITY
    const laneIds = this.#options.laneIds()
    // Each look begins with another queue, or a long line in the first would keep the others waiting for ever.
    const first = this.#firstLane++ % Math.max(1, laneIds.length)
    for (const laneId of [...laneIds.slice(first), ...laneIds.slice(0, first)]) {
      if (left <= 0) break
      const result = await this.#claim(laneId, left)
      left -= result.runs.length
      taken += result.runs.length
      if (result.hint !== null) {
        // The lowest, because it has to hold for all of the queues.
        xmin = Math.min(xmin, result.hint.xmin)
        hint = { ...result.hint, xmin }
        waitMs = Math.min(waitMs, result.hint.waitMs ?? Number.POSITIVE_INFINITY)
      }
    }
    this.#line.adapt(taken)
    this.#isHeldBack = left > 0 && waitMs <= heldBackMs
    if (left === 0) {
      // There is more, most likely.
      this.#sleep.noteBusy()
      this.#sleep.lookAgain()
      return
    }
    await this.#sleep.looked({
      hasFound: taken > 0,
      isBusy: taken >= busyRuns || this.#line.ratePerMs >= busyRatePerMs,
      snapshot: hint === null ? null : { xmin: BigInt(hint.xmin), next: BigInt(hint.next) },
      maxWaitMs: waitMs,
    })
  }

  async #claim(laneId: number, wanted: number): Promise<ClaimResult> {
    const { database, executor, concurrency } = this.#options
    const worker = this.#options.worker()
    const { suspects, deadly } = executor.countSuspects()
    const request = this.#requests.next()
    try {
      const result = await claimRuns(database, {
        worker,
        laneId,
        wanted,
        suspectRoom: Math.max(0, concurrency - suspects),
        mayTakeDeadly: deadly === 0,
        jobIds: this.#options.jobIds(),
        maxBytes: maxClaimBytes,
        maxChain,
        request,
      })
      this.#maxRuns = Math.min(maxBatchRuns, this.#maxRuns * 2)
      await this.#options.take(result.runs, worker, () => this.#requests.answered(request))
      this.#requests.answered(request)
      return result
    } catch (error) {
      this.#requests.lose(worker, request)
      this.#maxRuns = Math.max(1, Math.min(wanted, this.#maxRuns) >> 1)
      throw error
    }
  }
}
