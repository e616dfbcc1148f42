import { setMaxListeners } from 'node:events'
import type { Database } from '../../storage/database.ts'
import { claimLeadership, inTerm, isNotLeader, type Leader } from '../../storage/leadership.ts'
import {
  finishTask,
  registerTasks,
  rescheduleTask,
  startDueTasks,
  type TaskSchedule,
} from '../../storage/maintenance-tasks.ts'
import type { DatabaseClock } from '../clock.ts'
import type { Logger } from '../logger.ts'
import { firstRun, nextRun, retryMs } from './next-run.ts'
import { Places } from './places.ts'
import type { TaskEnd, Turn, Turns } from './turns.ts'
import type { MaintenanceTask } from './upkeep-task.ts'

export interface LeaderTurnsOptions {
  readonly database: Database
  readonly databaseClock: DatabaseClock
  readonly logger: Logger
  readonly tasks: readonly MaintenanceTask[]
  readonly incarnation: () => number
  /** The epoch under which this node owns shard 0, whose owner is the leader; undefined if it doesn't own it, or may not work. */
  readonly leadingEpoch: () => number | undefined
}

interface Term {
  readonly leader: Leader
  readonly epoch: number
  readonly ended: AbortController
  /** As stored in the database, for tasks whose schedule may change. */
  readonly schedules: Map<string, string>
}

/**
 * Tasks that the leading node runs for all nodes. A task makes its changes in a transaction that names the
 * leader's term, so that a replaced leader changes nothing.
 */
export class LeaderTurns implements Turns {
  readonly areOneByOne = false
  readonly #options: LeaderTurnsOptions
  readonly #tasks: ReadonlyMap<string, MaintenanceTask>
  /**
   * Transactions of tasks, as many at once as there are connections. At the start of a term about thirty tasks are due together. If all of them asked the pool
   * for a connection, the last ones would reach its time limit (10 s) on a busy server, and be reported as failing although nothing is wrong with them.
   */
  readonly #connections: Places
  #term: Term | null = null
  #isEnded = false

  constructor(options: LeaderTurnsOptions) {
    this.#options = options
    this.#tasks = new Map(options.tasks.map((task) => [task.name, task]))
    this.#connections = new Places(options.database.pool.options.max)
    if (this.#tasks.size !== options.tasks.length) throw new Error('two maintenance tasks share a name')
  }

  /** Starts or stops leading, and returns the tasks that are due. */
  async take(running: ReadonlySet<string>): Promise<readonly Turn[]> {
    const { database, incarnation, leadingEpoch } = this.#options
    const epoch = leadingEpoch()
    if (this.#term?.epoch !== epoch || this.#term?.leader.incarnation !== incarnation()) this.#endTerm()
    if (epoch === undefined) return []
    try {
      this.#term ??= await this.#beginTerm(epoch)
      const term = this.#term
      if (term === null || this.#isEnded) return []
      await this.#reschedule(term)
      const names = await startDueTasks(database, term.leader, [...running], retryMs)
      const tasks = names.map((name) => this.#tasks.get(name)).filter((task) => task !== undefined)
      return tasks.map((task) => this.#turnOf(task, term))
    } catch (error) {
      if (!isNotLeader(error)) throw error
      this.#endTerm()
      return []
    }
  }

  end(): void {
    this.#isEnded = true
    this.#endTerm()
  }

  async #beginTerm(epoch: number): Promise<Term | null> {
    const { database, databaseClock, incarnation, logger } = this.#options
    const term = await claimLeadership(database, incarnation(), epoch)
    if (term === null) return null
    const leader = { incarnation: incarnation(), term }
    const nowMs = databaseClock.nowMs()
    const schedules = new Map<string, string>()
    const tasks: Parameters<typeof registerTasks>[2][number][] = []
    for (const task of this.#tasks.values()) {
      const schedule = scheduleOf(task)
      if (typeof task.schedule === 'function') schedules.set(task.name, JSON.stringify(schedule))
      if (schedule !== null) tasks.push({ name: task.name, schedule, firstRunAt: firstRun(schedule, nowMs) })
    }
    await registerTasks(database, leader, tasks)
    logger.debug({ term }, 'This node is now the leader: it runs the maintenance tasks')
    const ended = new AbortController()
    // Every running task adds a listener to this signal.
    setMaxListeners(this.#tasks.size + 1, ended.signal)
    return { leader, epoch, ended, schedules }
  }

  /** Applies settings that changed since the last check. */
  async #reschedule({ leader, schedules }: Term): Promise<void> {
    const { database, databaseClock } = this.#options
    for (const [name, known] of schedules) {
      const task = this.#tasks.get(name)
      const schedule = task === undefined ? null : scheduleOf(task)
      const wanted = JSON.stringify(schedule)
      if (wanted === known) continue
      const nowMs = databaseClock.nowMs()
      const nextRunAt = schedule === null ? null : (firstRun(schedule, nowMs) ?? new Date(nowMs))
      await rescheduleTask(database, leader, name, schedule, nextRunAt)
      schedules.set(name, wanted)
    }
  }

  #endTerm(): void {
    this.#term?.ended.abort(new Error('this node is no longer the leader'))
    this.#term = null
  }

  #turnOf(task: MaintenanceTask, term: Term): Turn {
    const { database, databaseClock, logger } = this.#options
    const nowMs = databaseClock.nowMs()
    return {
      name: task.name,
      timeoutMs: task.timeoutMs,
      ended: term.ended.signal,
      run: (signal) => {
        const fenced = <Result>(work: Parameters<typeof inTerm<Result>>[2]) =>
          this.#connections.use(() => inTerm(database, term.leader, work), signal)
        return task.run({ database, logger, nowMs, fenced }, signal)
      },
      finish: (end) => this.#finish(task, term, end),
    }
  }

  async #finish(task: MaintenanceTask, { leader }: Term, end: TaskEnd): Promise<void> {
    const schedule = scheduleOf(task)
    if (schedule === null) return
    const next = nextRun(schedule, end.error !== null, this.#options.databaseClock.nowMs())
    await finishTask(this.#options.database, leader, { name: task.name, ...end, next })
  }
}

function scheduleOf({ schedule }: MaintenanceTask): TaskSchedule | null {
  return typeof schedule === 'function' ? schedule() : schedule
}
