import type { Database } from '../storage/database.ts'
import { alertsTask } from './alerts/alerts-task.ts'
import { DatabaseWatch } from './alerts/database-watch.ts'
import type { Clock, DatabaseClock } from './clock.ts'
import type { NodeLimits } from './limits.ts'
import type { Logger } from './logger.ts'
import { builtInTasks } from './maintenance/built-in-tasks.ts'
import { criticalResendTask } from './maintenance/critical-resend-task.ts'
import { Maintenance } from './maintenance/maintenance.ts'
import type { MaintenanceTask } from './maintenance/maintenance-task.ts'
import type { NodeSettings } from './node-settings.ts'
import type { NodeObserver } from './observer.ts'
import { RollupCounter } from './statistics/rollup-counter.ts'
import { RollupWriter } from './statistics/rollup-writer.ts'
import { SiteCounter } from './statistics/site-counter.ts'

/** What a node is told about watching itself. */
export interface HousekeepingSettings {
  readonly name: string
  /** For ownership and upkeep. */
  readonly controlDatabase: Database
  /** For maintenance: connections are opened on the leading node only. */
  readonly maintenanceDatabase: Database
  /** False: no statistics of endpoints are kept. */
  readonly isCounting?: boolean
  /** Where the runbook is that alerts link to. */
  readonly runbookUrl?: string
  /** A folder on the database's disk. */
  readonly diskPath?: string
  /** Run by one node at a time, besides the built-in ones. */
  readonly maintenanceTasks?: readonly MaintenanceTask[]
}

export interface HousekeepingOptions {
  readonly settings: HousekeepingSettings
  readonly siteSettings: NodeSettings
  readonly limits: NodeLimits
  readonly logger: Logger
  readonly clock: Clock
  readonly databaseClock: DatabaseClock
  readonly incarnation: () => number
  /** The epoch under which this node owns a shard, while it may work. */
  readonly epochOf: (shard: number) => number | undefined
  readonly isFenced: () => boolean
}

const defaultRunbookUrl = 'docs/runbook.md'

/** Its owner leads: it runs the maintenance tasks. */
const leadingShard = 0

/** What a node does beside delivering: maintenance while it leads, counting for the statistics, watching for the database. */
export class Housekeeping {
  readonly observers: readonly Partial<NodeObserver>[]
  readonly #maintenance: Maintenance
  readonly #databaseWatch: DatabaseWatch
  readonly #rollups: RollupWriter | null
  readonly #isFenced: () => boolean
  #isLooking = false
  #isLookDue = false

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
    this.#isFenced = options.isFenced
    this.#databaseWatch = new DatabaseWatch({
      logger,
      nodeName: settings.name,
      runbookUrl,
      // The database's own clock can't be asked while it is away; this machine's does for the length of an outage.
      nowMs: () => Date.now(),
    })
    this.#maintenance = new Maintenance({
      ...options,
      database: settings.maintenanceDatabase,
      tasks: [
        ...builtInTasks(limits),
        criticalResendTask(options.siteSettings),
        alertsTask({ runbookUrl, diskPath: settings.diskPath ?? null }),
        ...(settings.maintenanceTasks ?? []),
      ],
      leadingEpoch: () => epochOf(leadingShard),
    })
  }

  /** One look at a time, for two could both begin to lead; who asks meanwhile gets another one after it. */
  async tick(): Promise<void> {
    this.#databaseWatch.look(this.#isFenced())
    this.#isLookDue = true
    if (this.#isLooking) return
    this.#isLooking = true
    try {
      while (this.#isLookDue) {
        this.#isLookDue = false
        await this.#maintenance.tick()
      }
    } finally {
      this.#isLooking = false
    }
  }

  /** Writes down what was counted. */
  async flush(): Promise<void> {
    await this.#rollups?.flush()
  }

  async stop(): Promise<void> {
    await this.#maintenance.stop()
  }
}
