import type { Logger } from '../engine/logger.ts'
import { Signal } from '../engine/signal.ts'
import { isTransientError } from '../postgres/connection-error.ts'
import type { Database } from '../storage/database.ts'
import {
  clearLeftovers,
  forgetFormerQueues,
  reviveRuns,
  sweepRuns,
  sweepZombies,
  takeRound,
} from '../storage/keep-runs.ts'
import { buryWorker, type RecoveredRuns, readWorkerBeats } from '../storage/workers.ts'
import { ScheduleFirer } from './schedule-firer.ts'
import { WorkerWatch } from './worker-watch.ts'

export interface KeeperLimits {
  /** Runs stuck in a worker's hands: how often they are looked for, and for how long beyond their time-out they may stay. Null: what the settings say. */
  readonly zombieCheckMs: number | null
  readonly zombieThresholdMs: number | null
  /** How often expired runs, TTLs and jobs to re-enable are looked for. */
  readonly sweepMs: number
  /** How often the safety nets are drawn. */
  readonly reviveMs: number
  /** How often queues that jobs have left are looked through for what is still theirs. */
  readonly forgetMs: number
  /** How often schedules are looked at when none is known to be due sooner. */
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
  /** A worker's heartbeat watches its peers itself; a node needs us for it. */
  readonly watchesWorkers: boolean
  /** The incarnation in whose name it is done. */
  readonly by: () => number
  /** Runs were recovered from workers that died, or had lost sight of them. */
  readonly onRecovered?: (recovered: RecoveredRuns) => void
}

const maxRowsPerSweep = 500
/** Of those that are parked: most are so for a good reason, and only looked at. */
const maxParkedPerLook = 20_000
const watchMs = 1000
/** A round whose interval is a setting is asked for at least this often. */
const maxBlindMs = 5000
/** Without a worker to watch. */
const emptyWatchMs = 5000

/** What has to be done now and then, by whoever lives: nodes and workers alike. Each round falls to one of them. */
export class Keeper {
  readonly #options: KeeperOptions
  readonly #limits: KeeperLimits
  readonly #signal = new Signal()
  readonly #watch: WorkerWatch
  readonly #firer: ScheduleFirer
  readonly #nextRoundAtMs = new Map<string, number>()
  #nextWatchAtMs = 0
  #isStopped = false
  #running: Promise<void>[] = []

  constructor(options: KeeperOptions) {
    this.#options = options
    this.#limits = { ...defaultLimits, ...options.limits }
    this.#watch = new WorkerWatch(watchMs * 4)
    this.#firer = new ScheduleFirer({
      database: options.database,
      logger: options.logger,
      pollMs: this.#limits.scheduleMs,
    })
  }

  start(): void {
    if (this.#running.length > 0) return
    this.#firer.start()
    this.#running = [this.#run()]
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#signal.raise()
    await this.#firer.stop()
    await Promise.all(this.#running)
  }

  async #run(): Promise<void> {
    const stepMs = Math.min(watchMs, this.#limits.sweepMs)
    while (!this.#isStopped) {
      try {
        await this.#step()
      } catch (error) {
        const level = isTransientError(error) ? 'debug' : 'error'
        this.#options.logger[level]({ error: String(error) }, 'Upkeep of runs failed')
      }
      if (!this.#isStopped) await this.#signal.wait(stepMs)
    }
  }

  async #step(): Promise<void> {
    const { database, logger, by } = this.#options
    const { sweepMs, reviveMs, forgetMs, zombieCheckMs, zombieThresholdMs } = this.#limits
    if (this.#options.watchesWorkers) await this.#watchWorkers()
    if (await this.#isOurRound('sweep', sweepMs)) {
      await sweepRuns(database, maxRowsPerSweep, by())
    }
    if (await this.#isOurRound('zombies', zombieCheckMs ?? 'zombie_check_ms')) {
      const found = await sweepZombies(database, zombieThresholdMs, maxRowsPerSweep, by())
      if (found.runs > 0) {
        logger.warn({ ...found }, 'Zombie runs were found')
        this.#options.onRecovered?.(found)
      }
    }
    if (await this.#isOurRound('revive', reviveMs)) {
      const revived = await reviveRuns(database, maxParkedPerLook)
      if (revived > 0) logger.warn({ runs: revived }, 'Parked runs had been left behind')
      await clearLeftovers(database)
    }
    if (await this.#isOurRound('queues', forgetMs)) await forgetFormerQueues(database)
  }

  /** Asks when there may be something to take: whoever took the last round has said when the next one is. */
  async #isOurRound(round: string, interval: Parameters<typeof takeRound>[2]): Promise<boolean> {
    if (performance.now() < (this.#nextRoundAtMs.get(round) ?? 0)) return false
    const { isOurs, nextMs } = await takeRound(this.#options.database, round, interval)
    // A setting may have been changed meanwhile, and the next round with it.
    const waitMs = typeof interval === 'number' ? nextMs : Math.min(nextMs, maxBlindMs)
    this.#nextRoundAtMs.set(round, performance.now() + waitMs)
    return isOurs
  }

  async #watchWorkers(): Promise<void> {
    const { database, logger, by } = this.#options
    if (performance.now() < this.#nextWatchAtMs) return
    const beats = await readWorkerBeats(database)
    this.#nextWatchAtMs = beats.length === 0 ? performance.now() + emptyWatchMs : 0
    for (const dead of this.#watch.observe(beats, performance.now())) {
      const recovered = await buryWorker(database, dead.incarnation, dead.beat, by())
      logger.warn({ worker: dead.incarnation, ...recovered }, 'A worker is dead; its runs go back')
      this.#options.onRecovered?.(recovered)
    }
  }
}
