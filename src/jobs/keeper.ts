import type { Logger } from '../engine/logger.ts'
import { OwnTurns } from '../engine/upkeep/own-turns.ts'
import { RoundTurns } from '../engine/upkeep/round-turns.ts'
import { Upkeep } from '../engine/upkeep/upkeep.ts'
import type { OwnTask, RoundTask } from '../engine/upkeep/upkeep-task.ts'
import type { Database } from '../storage/database.ts'
import {
  clearLeftovers,
  forgetFormerQueues,
  reviveRuns,
  sweepRuns,
  sweepUnhandled,
  sweepZombies,
} from '../storage/keep-runs.ts'
import { buryWorker, type RecoveredRuns, readWorkerBeats } from '../storage/workers.ts'
import { ScheduleFirer } from './schedule-firer.ts'
import { WorkerWatch } from './worker-watch.ts'

export interface KeeperLimits {
  /** How often to check for runs stuck in a worker, and how long beyond their time-out they may stay. Null: as in the settings. */
  readonly zombieCheckMs: number | null
  readonly zombieThresholdMs: number | null
  /** Interval of checking for expired runs, TTLs and jobs to re-enable. */
  readonly sweepMs: number
  /** Interval between recovery sweeps. */
  readonly reviveMs: number
  /** Interval of checking queues that jobs have left for remaining runs. */
  readonly forgetMs: number
  /** Interval of checking schedules if none is known to be due sooner. */
  readonly scheduleMs: number
}

const defaultLimits: KeeperLimits = {
  zombieCheckMs: null,
  zombieThresholdMs: null,
  sweepMs: 2000,
  reviveMs: 30_000,
  forgetMs: 300_000,
  scheduleMs: 1000,
}

export interface KeeperOptions {
  readonly database: Database
  readonly logger: Logger
  readonly limits?: Partial<KeeperLimits>
  /** A node watches the workers here; a worker's heartbeat watches its peers itself. */
  readonly watchesWorkers: boolean
  /** The incarnation that does the upkeep. */
  readonly by: () => number
  /** Runs were recovered from workers that had died, or from live ones that had lost track of them. */
  readonly onRecovered?: (recovered: RecoveredRuns) => void
}

const maxRowsPerSweep = 500
/** Parked runs checked in one round; most stay parked, so they are only read. */
const maxParkedPerLook = 20_000
const watchMs = 1000
/** Interval while there are no workers. */
const emptyWatchMs = 5000

/** The upkeep of runs, done by nodes and by workers. It also fires schedules. */
export class Keeper {
  readonly #options: KeeperOptions
  readonly #limits: KeeperLimits
  readonly #upkeep: Upkeep
  readonly #watch = new WorkerWatch(watchMs * 4)
  readonly #firer: ScheduleFirer
  #nextWatchAtMs = 0

  constructor(options: KeeperOptions) {
    this.#options = options
    this.#limits = { ...defaultLimits, ...options.limits }
    const { database, logger } = options
    this.#firer = new ScheduleFirer({ database, logger, pollMs: this.#limits.scheduleMs })
    this.#upkeep = new Upkeep({
      logger,
      lookMs: Math.min(watchMs, this.#limits.sweepMs),
      turns: [new OwnTurns(this.#ownTasks()), new RoundTurns(database, this.#roundTasks())],
    })
  }

  start(): void {
    this.#firer.start()
    this.#upkeep.start()
  }

  async stop(): Promise<void> {
    await this.#firer.stop()
    await this.#upkeep.stop()
  }

  #ownTasks(): OwnTask[] {
    if (!this.#options.watchesWorkers) return []
    return [{ name: 'watch-workers', runBy: 'each', every: watchMs, run: () => this.#watchWorkers() }]
  }

  #roundTasks(): RoundTask[] {
    const { database, by } = this.#options
    const { sweepMs, reviveMs, forgetMs, zombieCheckMs } = this.#limits
    return [
      {
        name: 'sweep',
        runBy: 'round',
        every: sweepMs,
        run: () => sweepRuns(database, maxRowsPerSweep, by()),
      },
      {
        name: 'zombies',
        runBy: 'round',
        every: zombieCheckMs ?? 'zombie_check_ms',
        run: () => this.#sweepZombies(),
      },
      { name: 'revive', runBy: 'round', every: reviveMs, run: () => this.#revive() },
      {
        name: 'queues',
        runBy: 'round',
        every: forgetMs,
        run: async () => void (await forgetFormerQueues(database)),
      },
    ]
  }

  async #sweepZombies(): Promise<void> {
    const { database, logger, by } = this.#options
    const { zombieThresholdMs } = this.#limits
    const unhandled = await sweepUnhandled(database, zombieThresholdMs, maxRowsPerSweep, by())
    if (unhandled > 0) {
      logger.warn({ runs: unhandled }, 'Runs have failed as zombies: no live worker handles their job')
    }
    const found = await sweepZombies(database, zombieThresholdMs, maxRowsPerSweep, by())
    if (found.runs === 0) return
    logger.warn({ ...found }, 'Zombie runs were found: a live worker holds them far beyond their timeout')
    this.#options.onRecovered?.(found)
  }

  async #revive(): Promise<void> {
    const { database, logger } = this.#options
    const revived = await reviveRuns(database, maxParkedPerLook)
    if (revived > 0) logger.warn({ runs: revived }, 'Parked runs were released by a recovery sweep')
    await clearLeftovers(database)
  }

  async #watchWorkers(): Promise<void> {
    const { database, logger, by } = this.#options
    if (performance.now() < this.#nextWatchAtMs) return
    const beats = await readWorkerBeats(database)
    this.#nextWatchAtMs = beats.length === 0 ? performance.now() + emptyWatchMs : 0
    for (const dead of this.#watch.observe(beats, performance.now())) {
      const recovered = await buryWorker(database, dead.incarnation, dead.beat, by())
      logger.warn(
        { worker: dead.incarnation, ...recovered },
        'A worker is dead; its runs return to their queues',
      )
      this.#options.onRecovered?.(recovered)
    }
  }
}
