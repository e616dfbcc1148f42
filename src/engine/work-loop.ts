import { isTransientError } from '../postgres/connection-error.ts'
import type { Database } from '../storage/database.ts'
import { setAsleep } from '../storage/nodes.ts'
import type { Arrivals } from './arrivals.ts'
import type { Clock, DatabaseClock } from './clock.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Lane } from './lane.ts'
import type { LaneTable } from './lane-table.ts'
import type { NodeLimits } from './limits.ts'
import type { Logger } from './logger.ts'
import type { Reader } from './reader.ts'
import { Signal } from './signal.ts'
import { WakeQueue } from './wake-queue.ts'

export interface WorkLoopOptions {
  readonly database: Database
  readonly arrivals: Arrivals
  readonly reader: Reader
  readonly dispatcher: Dispatcher
  readonly lanes: LaneTable
  readonly clock: Clock
  readonly databaseClock: DatabaseClock
  readonly limits: NodeLimits
  readonly logger: Logger
  readonly incarnation: () => number
  readonly mayWork: () => boolean
  /** False behind a transaction-pooling proxy, or while the listening connection is down: then it polls. */
  readonly canBeRung: () => boolean
}

/** How the node learns of new work. `settling`: asleep is committed, but publishers that saw it awake may still be at it. */
type Alertness = 'awake' | 'settling' | 'asleep'

const busyPollMs = 5
const minPollMs = 2
const maxUnrungPollMs = 100
/** So much in one look is worth staying awake for: ringing costs publishers a database-wide lock. */
const busyArrivals = 64

/**
 * The one loop that reads. Awake, it polls; with nothing to do it says so in the database and sleeps until a publisher rings. A
 * publisher that saw it awake doesn't ring, so after committing `asleep` it goes on polling until every transaction of that
 * time has ended. A slow poll backs all of it up.
 */
export class WorkLoop {
  readonly #options: WorkLoopOptions
  readonly #signal = new Signal()
  readonly #wakes = new WakeQueue<Lane>()
  readonly #tasks: (() => Promise<void>)[] = []
  #alertness: Alertness = 'awake'
  #settlesAfter = 0n
  #isRung = true
  #nextPollAtMs = 0
  #pollMs = minPollMs
  #lastBusyAtMs = 0
  #isStopped = false
  #hasEnded = false
  #running: Promise<void> | null = null

  constructor(options: WorkLoopOptions) {
    this.#options = options
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#signal.raise()
    await this.#running
  }

  /** It sleeps, and nothing has been asked of it. */
  get isAtRest(): boolean {
    return this.#alertness === 'asleep' && this.#signal.isAwaited
  }

  /** A publisher rang, or something else says that it is worth looking. */
  ring(): void {
    this.#isRung = true
    this.#signal.raise()
  }

  /** A publisher of this process has something for it; who is awake looks soon anyway. */
  ringAsleep(): void {
    if (this.#alertness !== 'awake') this.ring()
  }

  requestRead(lane: Lane): void {
    // One reading of the clock for both questions: a time that came between two readings would get neither a read nor a wake-up.
    const nowMs = this.#options.databaseClock.nowMs()
    if (this.#options.reader.request(lane, nowMs)) this.#signal.raise()
    // What is due already waits for room, and is asked for again when there is some.
    else if (lane.nextDueAtMs > nowMs) this.wakeAt(lane, lane.nextDueAtMs)
  }

  /** Runs a task between two steps, while nothing is being read: the cursor stands still, and no row is on its way. */
  exclusively(task: () => Promise<void>): Promise<void> {
    if (this.#hasEnded) return task()
    return new Promise((resolve, reject) => {
      this.#tasks.push(() => task().then(resolve, reject))
      this.#signal.raise()
    })
  }

  wakeAt(lane: Lane, atMs: number): void {
    const nextAtMs = lane.wakes.at(-1) ?? Number.POSITIVE_INFINITY
    if (atMs >= nextAtMs) return
    lane.wakes.push(atMs)
    this.#wakes.add(lane, atMs)
    this.#signal.raise()
  }

  /** A new incarnation starts awake; its predecessor's state is gone. */
  reset(): void {
    this.#alertness = 'awake'
    this.ring()
  }

  async #run(): Promise<void> {
    let backoffMs = 10
    while (!this.#isStopped) {
      for (const task of this.#tasks.splice(0)) await task()
      if (this.#options.mayWork()) {
        try {
          await this.#step()
          backoffMs = 10
        } catch (error) {
          const isExpected = isTransientError(error)
          this.#options.logger[isExpected ? 'warn' : 'error']({ error: describe(error) }, 'Reading failed')
          await this.#signal.wait(backoffMs)
          backoffMs = Math.min(backoffMs * 2, 1000)
          this.#isRung = true
          continue
        }
      }
      if (!this.#options.reader.hasWork || !this.#options.mayWork()) await this.#signal.wait(this.#waitMs())
    }
    this.#hasEnded = true
    for (const task of this.#tasks.splice(0)) await task()
  }

  async #step(): Promise<void> {
    const { arrivals, clock, databaseClock, dispatcher, lanes, reader } = this.#options
    const nowMs = databaseClock.nowMs()
    for (let lane = this.#wakes.takeDue(nowMs); lane !== undefined; lane = this.#wakes.takeDue(nowMs)) {
      lane.wakes.pop()
      if (lanes.has(lane)) dispatcher.pump(lane)
    }
    if (this.#isRung || clock.monotonicMs() >= this.#nextPollAtMs) {
      this.#isRung = false
      const arrived = await arrivals.read()
      await this.#adjust(arrived)
    }
    if (reader.hasWork) {
      await reader.readQueued()
      this.#lastBusyAtMs = clock.monotonicMs()
    }
  }

  /** After a look: how soon to look again, and whether to sleep. */
  async #adjust(arrived: number): Promise<void> {
    const { clock, limits, canBeRung } = this.#options
    const nowMs = clock.monotonicMs()
    if (arrived > 0) this.#lastBusyAtMs = nowMs
    const idleMs = nowMs - this.#lastBusyAtMs
    if (!canBeRung()) {
      this.#alertness = 'awake'
      this.#pollMs = arrived > 0 ? busyPollMs : Math.min(this.#pollMs * 1.5, maxUnrungPollMs)
    } else if (this.#alertness === 'awake') {
      this.#pollMs = busyPollMs
      if (idleMs >= limits.sleepAfterMs) await this.#goToSleep()
    } else if (arrived >= busyArrivals) {
      await setAsleep(this.#options.database, this.#options.incarnation(), false)
      this.#alertness = 'awake'
      this.#pollMs = busyPollMs
    } else if (this.#alertness === 'settling') {
      if ((this.#options.arrivals.lastSnapshot?.xmin ?? 0n) >= this.#settlesAfter) {
        this.#alertness = 'asleep'
        this.#pollMs = this.#asleepPollMs
      } else {
        this.#pollMs = Math.min(this.#pollMs * 1.5, maxUnrungPollMs)
      }
    }
    const isRereading = this.#options.arrivals.hasPendingReread
    this.#nextPollAtMs = nowMs + (isRereading ? Math.min(this.#pollMs, 50) : this.#pollMs)
  }

  get #asleepPollMs(): number {
    const { arrivals, limits } = this.#options
    return arrivals.areAllRungFor ? limits.slowPollMs : Math.min(limits.slowPollMs, maxUnrungPollMs)
  }

  async #goToSleep(): Promise<void> {
    const { arrivals, database, incarnation } = this.#options
    await setAsleep(database, incarnation(), true)
    this.#alertness = 'settling'
    this.#pollMs = minPollMs
    await arrivals.read()
    // Everything that began before `asleep` was committed lies below this.
    this.#settlesAfter = arrivals.lastSnapshot?.next ?? 0n
  }

  #waitMs(): number {
    const untilPollMs = this.#nextPollAtMs - this.#options.clock.monotonicMs()
    const untilWakeMs = this.#wakes.nextAtMs - this.#options.databaseClock.nowMs()
    return Math.max(1, Math.min(untilPollMs, untilWakeMs, this.#options.limits.slowPollMs))
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
