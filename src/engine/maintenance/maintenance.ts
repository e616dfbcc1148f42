import { setMaxListeners } from 'node:events'
import { isTransientError } from '../../postgres/connection-error.ts'
import type { Database } from '../../storage/database.ts'
import { claimLeadership, inTerm, isNotLeader, type Leader } from '../../storage/leadership.ts'
import {
  finishTask,
  registerTasks,
  rescheduleTask,
  startDueTasks,
  type TaskSchedule,
} from '../../storage/maintenance-tasks.ts'
import type { Clock, DatabaseClock } from '../clock.ts'
import type { Logger } from '../logger.ts'
import type { MaintenanceTask } from './maintenance-task.ts'
import { firstRun, nextRun, retryMs } from './next-run.ts'

export interface MaintenanceOptions {
  readonly database: Database
  readonly clock: Clock
  readonly databaseClock: DatabaseClock
  readonly logger: Logger
  readonly tasks: readonly MaintenanceTask[]
  readonly incarnation: () => number
  /** The epoch under which this node owns shard 0, whose owner leads; undefined when it doesn't, or may not work. */
  readonly leadingEpoch: () => number | undefined
}

interface Term {
  readonly leader: Leader
  readonly epoch: number
  readonly ended: AbortController
  /** As the database has them, of tasks whose schedule may change. */
  readonly schedules: Map<string, string>
}

const defaultTimeoutMs = 60_000
/** A stop waits so long for tasks that were told to end. */
const stopWaitMs = 2000
const maxErrorCharacters = 2000

/**
 * Runs the tasks that one node does for all. Every task runs by itself: one that fails, hangs or takes long delays no other. Whatever
 * a task changes it changes in a transaction that names the term, so that a leader which has been replaced changes nothing.
 */
export class Maintenance {
  readonly #options: MaintenanceOptions
  readonly #tasks: ReadonlyMap<string, MaintenanceTask>
  readonly #running = new Map<string, Promise<void>>()
  #term: Term | null = null
  #isStopped = false

  constructor(options: MaintenanceOptions) {
    this.#options = options
    this.#tasks = new Map(options.tasks.map((task) => [task.name, task]))
    if (this.#tasks.size !== options.tasks.length) throw new Error('two maintenance tasks share a name')
  }

  /** The term in which this node leads, as far as it knows. */
  get term(): number | null {
    return this.#term?.leader.term ?? null
  }

  /** One look: lead or stop leading, and start what is due. */
  async tick(): Promise<void> {
    if (this.#isStopped) return
    const { database, incarnation, leadingEpoch } = this.#options
    const epoch = leadingEpoch()
    if (
      epoch === undefined ||
      this.#term?.epoch !== epoch ||
      this.#term.leader.incarnation !== incarnation()
    ) {
      this.#endTerm()
    }
    if (epoch === undefined) return
    try {
      this.#term ??= await this.#beginTerm(epoch)
      const term = this.#term
      if (term === null || this.#isStopped) return
      await this.#reschedule(term)
      for (const name of await startDueTasks(database, term.leader, [...this.#running.keys()], retryMs)) {
        const task = this.#tasks.get(name)
        if (task !== undefined) this.#start(task, term)
      }
    } catch (error) {
      if (!isNotLeader(error)) throw error
      this.#endTerm()
    }
  }

  /** Tells running tasks to end, and waits for them a little. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#endTerm()
    let timer: NodeJS.Timeout | undefined
    const expired = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, stopWaitMs)
    })
    await Promise.race([Promise.all(this.#running.values()), expired])
    clearTimeout(timer)
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
    logger.debug({ term }, 'This node leads: it runs the maintenance tasks')
    const ended = new AbortController()
    // Every task that runs listens to it.
    setMaxListeners(this.#tasks.size + 1, ended.signal)
    return { leader, epoch, ended, schedules }
  }

  /** What was changed in the settings since the last look. */
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
    this.#term?.ended.abort(new Error('this node no longer leads'))
    this.#term = null
  }

  #start(task: MaintenanceTask, term: Term): void {
    const running = this.#run(task, term).finally(() => this.#running.delete(task.name))
    this.#running.set(task.name, running)
  }

  /** Never rejects. */
  async #run(task: MaintenanceTask, term: Term): Promise<void> {
    const { clock, database, databaseClock, logger } = this.#options
    const startedAtMs = clock.monotonicMs()
    const timeoutMs = task.timeoutMs ?? defaultTimeoutMs
    const abort = new AbortController()
    const endWithTerm = () => abort.abort(term.ended.signal.reason)
    term.ended.signal.addEventListener('abort', endWithTerm, { once: true })
    const timer = setTimeout(() => abort.abort(new Error(`it took longer than ${timeoutMs} ms`)), timeoutMs)
    const context = {
      database,
      logger,
      nowMs: databaseClock.nowMs(),
      fenced: <Result>(work: Parameters<typeof inTerm<Result>>[2]) => inTerm(database, term.leader, work),
    }
    // In a microtask of its own: a task that throws before it awaits is a task that fails.
    const work = Promise.resolve().then(() => task.run(context, abort.signal))
    let summary: Record<string, unknown> | null = null
    let error: string | null = null
    try {
      summary = await Promise.race([work, rejectedOn(abort.signal)])
    } catch (thrown) {
      error = describe(thrown)
      // Whoever leads now runs it again: what this one began is rolled back.
      if (!term.ended.signal.aborted && !isNotLeader(thrown)) {
        logger[isTransientError(thrown) ? 'warn' : 'error'](
          { task: task.name, error },
          'A maintenance task failed',
        )
      }
    }
    clearTimeout(timer)
    term.ended.signal.removeEventListener('abort', endWithTerm)
    await this.#finish(task, term, { durationMs: clock.monotonicMs() - startedAtMs, summary, error })
    // One that doesn't heed its signal may not be started a second time beside itself.
    await work.catch(() => {})
  }

  async #finish(
    task: MaintenanceTask,
    term: Term,
    ended: { durationMs: number; summary: Record<string, unknown> | null; error: string | null },
  ): Promise<void> {
    if (term.ended.signal.aborted) return
    const { database, databaseClock, logger } = this.#options
    try {
      const schedule = scheduleOf(task)
      if (schedule === null) return
      const next = nextRun(schedule, ended.error !== null, databaseClock.nowMs())
      await finishTask(database, term.leader, { name: task.name, ...ended, next })
    } catch (error) {
      // Its row says that it runs, and that it is tried again in a minute.
      if (!isNotLeader(error)) {
        logger.warn({ task: task.name, error: describe(error) }, "A maintenance task's end was not recorded")
      }
    }
  }
}

function scheduleOf({ schedule }: MaintenanceTask): TaskSchedule | null {
  return typeof schedule === 'function' ? schedule() : schedule
}

function rejectedOn(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
  })
}

function describe(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error)
  return text.replaceAll('\u0000', '').slice(0, maxErrorCharacters)
}
