import type { Logger } from '../engine/logger.ts'
import { Signal } from '../engine/signal.ts'
import { isTransientError } from '../postgres/connection-error.ts'
import { type ClaimHint, type ClaimResult, claimRuns } from '../storage/claim-runs.ts'
import type { Database } from '../storage/database.ts'
import { setWorkerAsleep } from '../storage/workers.ts'
import { ClaimRequests } from './claim-requests.ts'
import type { Executor } from './executor.ts'
import type { KeptSlot } from './local-workers.ts'
import { withDeadline } from './with-deadline.ts'
import type { WorkerLimits } from './worker-limits.ts'

export interface ClaimerOptions {
  readonly database: Database
  readonly executor: Executor
  readonly limits: WorkerLimits
  readonly concurrency: number
  readonly logger: Logger
  readonly worker: () => number
  readonly laneIds: () => readonly number[]
  /** False while stopping, draining, fenced, or with a full journal. */
  readonly mayClaim: () => boolean
  /** Whether a notification can reach us. */
  readonly canBeRung: () => boolean
  /** False where enqueuers may prepare their transactions, and so ring nobody. */
  readonly areAllRungFor: () => boolean
  /** What a worker of this incarnation has claimed. */
  readonly take: (result: ClaimResult, worker: number) => Promise<void>
}

/** `settling`: asleep is committed, but those that saw it awake may still be storing runs. */
type Alertness = 'awake' | 'settling' | 'asleep'

const busyPollMs = 5
const minPollMs = 2
const maxUnrungPollMs = 100
/** Half of what a claim of 500 costs is the same for one run (3.1 of 5.8 ms, on a busy machine): larger ones pay while runs are short. */
const maxBatchRuns = 2000
/**
 * So many in one look, or so many a second, are worth staying awake for: ringing costs whoever enqueues a database-wide lock. Fewer are
 * better rung for: whoever is awake only looks every few milliseconds.
 */
const busyRuns = 64
const busyRatePerMs = 0.2
/** The line in front of the slots holds what is finished in this time, at the rate of the last looks. */
const prefetchMs = 200
const minSampleMs = 5
/** How long a stop waits for the answers to what is just being enqueued for us. */
const handOverDeadlineMs = 5000

/**
 * The one loop that claims. It keeps the slots filled and, when runs are short, a line in front of them, whose length follows from how fast it
 * empties. With nothing to do it says so in the database and sleeps until it is rung; see WorkLoop, whose protocol this is.
 */
export class Claimer {
  readonly #options: ClaimerOptions
  readonly #requests: ClaimRequests
  readonly #signal = new Signal()
  #alertness: Alertness = 'awake'
  #settlesAfter = 0
  #prefetch = 0
  #ratePerMs = 0
  #sampledAtMs = performance.now()
  #completedThen = 0
  #pollMs = busyPollMs
  #nextPollAtMs = 0
  #lastBusyAtMs = performance.now()
  #isRung = true
  #isStopped = false
  #isLooking = false
  #firstLane = 0
  /** Slots that are kept for runs which this process enqueues just now. */
  readonly #kept = new Set<Promise<void>>()
  #running: Promise<void> | null = null

  constructor(options: ClaimerOptions) {
    this.#options = options
    this.#requests = new ClaimRequests(options.database, options.logger)
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#signal.raise()
    await this.#running
    // What comes in later isn't begun, and goes back when the worker retires.
    await withDeadline(this.#untilHandedOver(), handOverDeadlineMs)
  }

  /** There may be work. */
  ring(): void {
    this.#isRung = true
    this.#signal.raise()
  }

  /** A slot is free. */
  noteRoom(): void {
    if (this.#room() > 0) this.#signal.raise()
  }

  /** A new incarnation starts awake. */
  reset(): void {
    this.#alertness = 'awake'
    this.ring()
  }

  /**
   * A slot for one run that is stored as claimed by us. Only while we sleep: then the last look found less than was wanted, and whoever has
   * stored something since rings, so that the run overtakes nothing that has waited.
   */
  keepSlot(): KeptSlot | null {
    const { executor, concurrency, mayClaim } = this.#options
    const mayLook = this.#isRung || this.#isLooking || performance.now() >= this.#nextPollAtMs
    if (this.#alertness !== 'asleep' || mayLook || this.#isStopped) return null
    if (this.#requests.hasLost || !mayClaim()) return null
    if (executor.runningCount + executor.queuedCount + this.#kept.size >= concurrency) return null
    const worker = this.#options.worker()
    const request = this.#requests.next()
    let tell = () => {}
    const ended = new Promise<void>((resolve) => {
      tell = resolve
    })
    this.#kept.add(ended)
    const end = () => {
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
      fill: (run) => void this.#options.take({ runs: [run], hint: null }, worker).then(end, giveUp),
      free: end,
      giveUp,
    }
  }

  async #untilHandedOver(): Promise<void> {
    await Promise.all(this.#kept)
    // What can't be given back now goes back when the worker retires.
    await this.#requests.giveBack().catch(() => {})
  }

  /** How many to claim: enough for the free slots and the line, but not so few that a claim doesn't pay. */
  #room(): number {
    const { executor, concurrency } = this.#options
    const room = concurrency + this.#prefetch - executor.runningCount - executor.queuedCount - this.#kept.size
    const isWorthIt =
      room >= Math.min(maxBatchRuns / 2, (concurrency + this.#prefetch) / 2) || executor.queuedCount === 0
    return isWorthIt ? Math.min(room, maxBatchRuns) : 0
  }

  async #run(): Promise<void> {
    let backoffMs = 10
    while (!this.#isStopped) {
      const room = this.#options.mayClaim() ? this.#room() : 0
      const isDue = this.#isRung || performance.now() >= this.#nextPollAtMs
      if (this.#requests.hasLost || (room > 0 && isDue)) {
        try {
          await this.#requests.giveBack()
          if (room > 0 && isDue) await this.#look(room)
          backoffMs = 10
        } catch (error) {
          const level = isTransientError(error) ? 'warn' : 'error'
          this.#options.logger[level]({ error: String(error) }, 'Claiming failed')
          await this.#signal.wait(backoffMs)
          backoffMs = Math.min(backoffMs * 2, 1000)
          this.#isRung = true
        }
        continue
      }
      const untilPollMs = room > 0 ? this.#nextPollAtMs - performance.now() : this.#options.limits.slowPollMs
      await this.#signal.wait(Math.max(1, Math.min(untilPollMs, this.#options.limits.slowPollMs)))
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
    this.#isRung = false
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
    this.#adaptPrefetch()
    if (left === 0) {
      // There is more, most likely.
      this.#isRung = true
      this.#lastBusyAtMs = performance.now()
      return
    }
    await this.#adjust(taken, hint, waitMs)
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
        request,
      })
      await this.#options.take(result, worker)
      return result
    } catch (error) {
      this.#requests.lose(worker, request)
      throw error
    }
  }

  /** Long runs get no line: what waits in it could run elsewhere. */
  #adaptPrefetch(): void {
    const { executor, limits } = this.#options
    const nowMs = performance.now()
    const elapsedMs = nowMs - this.#sampledAtMs
    if (elapsedMs < minSampleMs) return
    const finished = executor.completed - this.#completedThen
    this.#ratePerMs = (this.#ratePerMs + finished / elapsedMs) / 2
    this.#sampledAtMs = nowMs
    this.#completedThen = executor.completed
    this.#prefetch = Math.min(limits.maxPrefetch, Math.floor(this.#ratePerMs * prefetchMs))
  }

  /** After a look that found less than was wanted: how soon to look again, and whether to sleep. */
  async #adjust(taken: number, hint: ClaimHint | null, waitMs: number): Promise<void> {
    const { limits, canBeRung, database, worker } = this.#options
    const nowMs = performance.now()
    const isBusy = taken >= busyRuns || this.#ratePerMs >= busyRatePerMs
    if (isBusy) this.#lastBusyAtMs = nowMs
    if (!canBeRung()) {
      this.#alertness = 'awake'
      this.#pollMs = taken > 0 ? busyPollMs : Math.min(this.#pollMs * 1.5, maxUnrungPollMs)
    } else if (this.#alertness === 'awake') {
      this.#pollMs = busyPollMs
      if (nowMs - this.#lastBusyAtMs >= limits.sleepAfterMs) {
        await setWorkerAsleep(database, worker(), true)
        this.#alertness = 'settling'
        this.#settlesAfter = 0
        this.#pollMs = minPollMs
        this.#isRung = true
      }
    } else if (isBusy) {
      await setWorkerAsleep(database, worker(), false)
      this.#alertness = 'awake'
      this.#pollMs = busyPollMs
    } else if (this.#alertness === 'settling' && hint !== null) {
      // Everything that began before `asleep` was committed lies below what the first look after it saw.
      if (this.#settlesAfter === 0) this.#settlesAfter = hint.next
      if (hint.xmin >= this.#settlesAfter) {
        this.#alertness = 'asleep'
        this.#pollMs = this.#options.areAllRungFor()
          ? limits.slowPollMs
          : Math.min(limits.slowPollMs, maxUnrungPollMs)
      } else {
        this.#pollMs = Math.min(this.#pollMs * 1.5, maxUnrungPollMs)
      }
    }
    this.#nextPollAtMs = nowMs + Math.min(this.#pollMs, Math.max(0, waitMs))
  }
}
