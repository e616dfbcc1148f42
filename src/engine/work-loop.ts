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
import { SleepProtocol } from './sleep-protocol.ts'
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
  /** False behind a transaction-pooling proxy, or while the listening connection is down: then the loop polls. */
  readonly canBeRung: () => boolean
}

/** With this many rows in one poll, staying awake is worthwhile: a notification takes a database-wide lock in the publisher's commit. */
const busyArrivals = 64

/** Interval of checking for late commits that must be read again. */
const rereadPollMs = 50

/** The only loop that reads: lanes whose wake-up time has come, arrivals, and lanes that requested more. */
export class WorkLoop {
  readonly #options: WorkLoopOptions
  readonly #sleep: SleepProtocol
  readonly #wakes = new WakeQueue<Lane>()
  /** Wake-up times of each lane in the queue: the latest first, the next one last. */
  readonly #wakeTimes = new WeakMap<Lane, number[]>()
  readonly #tasks: (() => Promise<void>)[] = []
  #isStopped = false
  #hasEnded = false
  #running: Promise<void> | null = null

  constructor(options: WorkLoopOptions) {
    this.#options = options
    const { arrivals, canBeRung, clock, database, incarnation, limits } = options
    this.#sleep = new SleepProtocol({
      limits,
      monotonicMs: () => clock.monotonicMs(),
      canBeRung,
      areAllRungFor: () => arrivals.areAllRungFor,
      setAsleep: (isAsleep) => setAsleep(database, incarnation(), isAsleep),
    })
  }

  start(): void {
    this.#running ??= this.#run()
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#sleep.wake()
    await this.#running
  }

  /** The loop sleeps, and no poll has been requested. */
  get isAtRest(): boolean {
    return this.#sleep.isAtRest
  }

  /** A notification arrived, or another event suggests that there is work. */
  ring(): void {
    this.#sleep.ring()
  }

  /** This node has taken over shards: publishers that began before may have notified their former owner. */
  takenOver(): void {
    this.#sleep.takenOver()
  }

  /** A publisher in this process has stored messages. */
  ringBeside(): void {
    this.#sleep.ringBeside()
  }

  requestRead(lane: Lane): void {
    // One reading of the clock for both checks: with two readings, a time between them would get neither a read nor a wake-up.
    const nowMs = this.#options.databaseClock.nowMs()
    if (this.#options.reader.request(lane, nowMs)) this.#sleep.wake()
    // A lane that is due already waits for room, and is queued when there is room.
    else if (lane.reading.schedule.nextDueAtMs > nowMs) this.wakeAt(lane, lane.reading.schedule.nextDueAtMs)
  }

  /** Runs a task between two steps, while no read is in progress: the cursor doesn't move, and no row is being fetched. */
  exclusively(task: () => Promise<void>): Promise<void> {
    if (this.#hasEnded) return task()
    return new Promise((resolve, reject) => {
      this.#tasks.push(() => task().then(resolve, reject))
      this.#sleep.wake()
    })
  }

  wakeAt(lane: Lane, atMs: number): void {
    if (atMs >= this.nextWakeMs(lane)) return
    const times = this.#wakeTimes.get(lane)
    if (times === undefined) this.#wakeTimes.set(lane, [atMs])
    else times.push(atMs)
    this.#wakes.add(lane, atMs)
    this.#sleep.wake()
  }

  /** When the lane will be read again; infinite if it won't. */
  nextWakeMs(lane: Lane): number {
    return this.#wakeTimes.get(lane)?.at(-1) ?? Number.POSITIVE_INFINITY
  }

  /** A new incarnation starts awake; its predecessor's state is gone. */
  reset(): void {
    this.#sleep.reset()
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
          this.#options.logger[isExpected ? 'warn' : 'error'](
            { error: describe(error) },
            'Reading deliveries failed; retrying',
          )
          await this.#sleep.wait(backoffMs)
          backoffMs = Math.min(backoffMs * 2, 1000)
          this.#sleep.lookAgain()
          continue
        }
      }
      if (!this.#options.reader.hasWork || !this.#options.mayWork()) await this.#sleep.wait(this.#waitMs())
    }
    this.#hasEnded = true
    for (const task of this.#tasks.splice(0)) await task()
  }

  async #step(): Promise<void> {
    const { databaseClock, dispatcher, lanes, reader } = this.#options
    const nowMs = databaseClock.nowMs()
    for (let lane = this.#wakes.takeDue(nowMs); lane !== undefined; lane = this.#wakes.takeDue(nowMs)) {
      this.#wakeTimes.get(lane)?.pop()
      if (lanes.has(lane)) dispatcher.pump(lane)
    }
    if (this.#sleep.isLookDue) await this.#look()
    if (reader.hasWork) {
      await reader.readQueued()
      this.#sleep.noteBusy()
    }
  }

  async #look(): Promise<void> {
    const { arrivals } = this.#options
    this.#sleep.beginLook()
    const arrived = await arrivals.read()
    if (arrived > 0) this.#sleep.noteBusy()
    await this.#sleep.looked({
      hasFound: arrived > 0,
      isBusy: arrived >= busyArrivals,
      snapshot: arrivals.lastSnapshot,
      maxWaitMs: arrivals.hasPendingReread ? rereadPollMs : Number.POSITIVE_INFINITY,
    })
  }

  #waitMs(): number {
    return Math.min(this.#sleep.untilPollMs, this.#wakes.nextAtMs - this.#options.databaseClock.nowMs())
  }
}

function describe(error: unknown): string {
  return error instanceof Error ? (error.stack ?? error.message) : String(error)
}
