import type { Database } from '../storage/database.ts'
import { alertsTask } from './alerts/alerts-task.ts'
import { DatabaseWatch } from './alerts/database-watch.ts'
import type { DatabaseClock } from './clock.ts'
import type { NodeLimits } from './limits.ts'
import type { Logger } from './logger.ts'
import type { NodeSettings } from './node-settings.ts'
import type { NodeObserver } from './observer.ts'
import { RollupCounter } from './statistics/rollup-counter.ts'
import { RollupWriter } from './statistics/rollup-writer.ts'
import { SiteCounter } from './statistics/site-counter.ts'
import { builtInTasks } from './upkeep/built-in-tasks.ts'
import { criticalResendTask } from './upkeep/critical-resend-task.ts'
import { LeaderTurns } from './upkeep/leader-turns.ts'
import { OwnTurns } from './upkeep/own-turns.ts'
import { Upkeep } from './upkeep/upkeep.ts'
import type { MaintenanceTask, OwnTask } from './upkeep/upkeep-task.ts'

/** Options for monitoring and maintenance of a node. */
export interface HousekeepingSettings {
  readonly name: string
  /** For ownership and upkeep. */
  readonly controlDatabase: Database
  /** For maintenance tasks: only the leading node opens connections. */
  readonly maintenanceDatabase: Database
  /** False: no endpoint statistics are kept. */
  readonly isCounting?: boolean
  /** URL of the runbook that alerts link to. */
  readonly runbookUrl?: string
  /** A folder on the database's disk. */
  readonly diskPath?: string
  /** Additional tasks, run by one node at a time. */
  readonly maintenanceTasks?: readonly MaintenanceTask[]
}

export interface HousekeepingOptions {
  readonly settings: HousekeepingSettings
  readonly siteSettings: NodeSettings
  readonly limits: NodeLimits
  readonly logger: Logger
  readonly databaseClock: DatabaseClock
  readonly incarnation: () => number
  /** The epoch under which this node owns a shard, while it may work. */
  readonly epochOf: (shard: number) => number | undefined
  readonly isFenced: () => boolean
  /** Ends deliveries that expired or were pending for too long. */
  readonly sweep: () => Promise<void>
}

const defaultRunbookUrl = 'docs/runbook.md'

/** The node that owns this shard is the leader: it runs the maintenance tasks. */
const leadingShard = 0

/** Tasks of a node besides delivering: upkeep, maintenance while it leads, counting for the statistics, watching the database. */
export class Housekeeping {
  readonly observers: readonly Partial<NodeObserver>[]
  /** Upkeep of the whole cluster, while this node leads. */
  readonly #maintenance: Upkeep
  /** Upkeep of this node. */
  readonly #upkeep: Upkeep
  readonly #rollups: RollupWriter | null

  constructor(options: HousekeepingOptions) {
    const { settings, limits, logger, incarnation, epochOf } = options
    const { runbookUrl = defaultRunbookUrl } = settings
    const counter = settings.isCounting === false ? null : new RollupCounter()
    const site = new SiteCounter()
    this.observers = counter === null ? [] : [counter, site]
    this.#rollups =
      counter === null
        ? null
        : new RollupWriter({ database: settings.controlDatabase, counter, site, incarnation })
    const leader = new LeaderTurns({
      database: settings.maintenanceDatabase,
      databaseClock: options.databaseClock,
      logger,
      tasks: [
        ...builtInTasks(limits),
        criticalResendTask(options.siteSettings),
        alertsTask({ runbookUrl, diskPath: settings.diskPath ?? null }),
        ...(settings.maintenanceTasks ?? []),
      ],
      incarnation,
      leadingEpoch: () => epochOf(leadingShard),
    })
    this.#maintenance = new Upkeep({ logger, lookMs: limits.maintenanceMs, turns: [leader] })
    this.#upkeep = new Upkeep({
      logger,
      lookMs: Math.min(limits.maintenanceMs, limits.sweepMs, limits.rollupMs),
      turns: [new OwnTurns(this.#ownTasks(options, runbookUrl))],
    })
  }

  start(): void {
    this.#maintenance.start()
    this.#upkeep.start()
  }

  /** Checks whether a maintenance task is due. */
  look(): Promise<void> {
    return this.#maintenance.look()
  }

  /** Writes the counts to the database. */
  async flush(): Promise<void> {
    await this.#rollups?.flush()
  }

  async stop(): Promise<void> {
    await Promise.all([this.#maintenance.stop(), this.#upkeep.stop()])
  }

  #ownTasks(
    { settings, limits, logger, isFenced, sweep }: HousekeepingOptions,
    runbookUrl: string,
  ): OwnTask[] {
    const watch = new DatabaseWatch({
      logger,
      nodeName: settings.name,
      runbookUrl,
      // The database's clock can't be read while it is unavailable; this machine's clock is good enough for an outage.
      nowMs: () => Date.now(),
    })
    return [
      {
        name: 'watch-database',
        runBy: 'each',
        every: limits.maintenanceMs,
        run: async () => watch.look(isFenced()),
      },
      { name: 'sweep', runBy: 'each', every: limits.sweepMs, run: sweep },
      { name: 'statistics', runBy: 'each', every: limits.rollupMs, run: () => this.flush() },
    ]
  }
}
