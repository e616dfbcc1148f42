import { HoldfastError } from '../core/errors.ts'
import type { Database } from '../storage/database.ts'
import {
  type LeaderStatus,
  type MaintenanceStatus,
  readMaintenance,
  requestTask,
} from '../storage/maintenance-tasks.ts'
import { translateError } from '../storage/translate-error.ts'

export type { LeaderStatus, MaintenanceStatus } from '../storage/maintenance-tasks.ts'

export interface MaintenanceOptions {
  readonly database: () => Database
  readonly actor: string
}

/** Maintenance tasks that one node runs for all: which node leads, and the result of each task. */
export class Maintenance {
  readonly #options: MaintenanceOptions

  constructor(options: MaintenanceOptions) {
    this.#options = options
  }

  async status(): Promise<{ leader: LeaderStatus; tasks: MaintenanceStatus[] }> {
    try {
      return await readMaintenance(this.#options.database())
    } catch (error) {
      throw translateError(error)
    }
  }

  /** Runs a task at the leader's next check, within about a second. */
  async run(name: string): Promise<void> {
    let isKnown: boolean
    try {
      isKnown = await requestTask(this.#options.database(), name, this.#options.actor)
    } catch (error) {
      throw translateError(error)
    }
    if (isKnown) return
    throw new HoldfastError(
      'task_not_found',
      `There is no maintenance task named "${name}". List them with: holdfast maintenance status`,
      { task: name },
    )
  }
}
