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
  /** Ids of the jobs that this worker has handlers for. */
  readonly jobIds: () => readonly number[]
  /** Whether notifications can reach this worker. */
  readonly canBeRung: () => boolean
  /** False where enqueuers may use prepared transactions, which can't send notifications. */
  readonly areAllRungFor: () => boolean
}

/**
 * Of a claim of 500 runs, half of the cost is the same for one run (3.1 of 5.8 ms, on a busy machine): larger claims pay off while runs are short.
 */
const maxBatchRuns = 2000
/**
 * With this many runs in one claim round, or this rate, the worker stays awake: a notification costs the enqueuing transaction a database-wide lock.
 * For fewer runs a notification is better: an awake worker claims only every few milliseconds.
 */
const busyRuns = 64
const busyRatePerMs = 0.2
/** Limit for the bodies of one claim; a worker whose local queue holds as much claims nothing more. A single run is allowed whatever its size. */
const maxClaimBytes = 16 * 1024 * 1024
/** Runs of one ordering key that are claimed together: at 10 ms per claim, one key alone reaches 5,000 runs a second. */
const maxChain = 50
/**
 * While runs are short, a key in use is free again before it is needed, and passing the next run of it costs three writes instead of one. A handler that takes
 * longer than this holds up other keys of a fast queue once for this time.
 */
const keyPatienceMs = 250
/** A queue or job at its limit is checked again after this time (claim_room, job_rooms), or when results of this worker are stored. */
const heldBackMs = 50
/** How long `stop` waits for runs that are being enqueued as claimed by this worker. */
const keptSlotDeadlineMs = 5000

/**
 * The loop that claims runs from PostgreSQL. It keeps the slots filled and, when runs are short, a local queue of runs that wait for a slot; the
 * length of that queue depends on how fast runs end.
 */
export class Claimer implements RunFeed {
  readonly #options: ClaimerOptions
  readonly #requests: ClaimRequests
  readonly #sleep: SleepProtocol
  readonly #line: LineLength
  /** Lower after a failed claim, which may have exceeded the server's memory or the statement timeout. */
  #maxRuns = maxBatchRuns
  #isStopped = false
  #isLooking = false
  /** A limit held back runs in the last claim round; the next round follows soon. */
  #isHeldBack = false
  #firstLane = 0
  /** Slots reserved for runs that this process is enqueuing. */
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
    // Runs that arrive later are not started, and are returned when the worker retires.
    await withDeadline(this.#untilSlotsAreFilled(), keptSlotDeadlineMs)
  }

  /** Signals that there may be work. */
  ring(): void {
    this.#sleep.ring()
  }

  /** Signals that a slot is free. */
  noteRoom(): void {
    if (this.#room() > 0) this.#sleep.wake()
  }

  /** Results are stored: a concurrency limit that held runs back may allow more. */
  noteSettled(): void {
    if (this.#isHeldBack) this.#sleep.ring()
    else this.noteRoom()
  }

  /** A new incarnation starts awake. */
  reset(): void {
    this.#sleep.reset()
  }

  /**
   * Reserves a slot for one run that is stored as claimed by this worker. Only while the worker sleeps: then its last claim round found fewer runs
   * than it wanted, and later enqueues notify it, so the run overtakes no waiting run.
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
    // Runs that can't be returned now are returned when the worker retires.
    await this.#requests.giveBack().catch(() => {})
  }

  /** How many runs to claim: enough for the free slots and the local queue, but 0 if a claim for so few would not pay off. */
  #room(): number {
    const { executor, concurrency } = this.#options
    if (executor.queuedBytes >= maxClaimBytes) return 0
    const line = Math.max(this.#line.runs, this.#options.minLine)
    const room = concurrency + line - executor.busySlots - executor.queuedCount - this.#kept.size
    const isWorthIt =
      room >= Math.min(maxBatchRuns / 2, (concurrency + line) / 2) || executor.queuedCount === 0
    return isWorthIt ? Math.min(room, this.#maxRuns) : 0
  }

  #isFast(): boolean {
    return this.#line.ratePerMs >= busyRatePerMs
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
    // Each claim round begins with another queue; otherwise a long first queue would starve the others.
    const first = this.#firstLane++ % Math.max(1, laneIds.length)
    for (const laneId of [...laneIds.slice(first), ...laneIds.slice(0, first)]) {
      if (left <= 0) break
      const result = await this.#claim(laneId, left)
      left -= result.runs.length
      taken += result.runs.length
      if (result.hint !== null) {
        // The lowest xmin, because it has to hold for all queues.
        xmin = Math.min(xmin, result.hint.xmin)
        hint = { ...result.hint, xmin }
        waitMs = Math.min(waitMs, result.hint.waitMs ?? Number.POSITIVE_INFINITY)
      }
    }
    this.#line.adapt(taken)
    this.#isHeldBack = left > 0 && waitMs <= heldBackMs
    if (left === 0) {
      // There are probably more runs.
      this.#sleep.noteBusy()
      this.#sleep.lookAgain()
      return
    }
    await this.#sleep.looked({
      hasFound: taken > 0,
      isBusy: taken >= busyRuns || this.#isFast(),
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
        patienceMs: this.#isFast() ? keyPatienceMs : 0,
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
