import { problemOfCron } from '../core/settings/parse-setting.ts'
import { siteSettings } from '../core/settings/site-settings.ts'
import type { Database } from '../storage/database.ts'
import type { TaskSchedule } from '../storage/maintenance-tasks.ts'
import { readNodeSettings } from '../storage/settings.ts'
import type { Logger } from './logger.ts'

export interface NodeSettingsOptions {
  readonly database: Database
  readonly logger: Logger
}

/** Installation-wide settings that a node keeps in memory. Read at start, and again after each change. */
export class NodeSettings {
  readonly #options: NodeSettingsOptions
  #rejectingThreshold: number = siteSettings.rejecting_threshold.fallback
  #resendSchedule: TaskSchedule | null = {
    cron: siteSettings.critical_resend_cron.fallback,
    timezone: siteSettings.critical_resend_timezone.fallback,
  }

  constructor(options: NodeSettingsOptions) {
    this.#options = options
  }

  /** 0: endpoints are never paused as rejecting. */
  get rejectingThreshold(): number {
    return this.#rejectingThreshold
  }

  /** Null: no automatic redelivery. */
  get resendSchedule(): TaskSchedule | null {
    return this.#resendSchedule
  }

  async read(): Promise<void> {
    const values = await readNodeSettings(this.#options.database)
    this.#rejectingThreshold = Number(values.get('rejecting_threshold'))
    const cron = String(values.get('critical_resend_cron'))
    const timezone = String(values.get('critical_resend_timezone'))
    const problem = cron === 'never' ? null : problemOfCron(cron, timezone)
    if (problem === null) {
      this.#resendSchedule = cron === 'never' ? null : { cron, timezone }
      return
    }
    // SQL checks the form of a schedule, but not whether it ever fires.
    this.#options.logger.error(
      { cron, timezone, problem },
      'critical_resend_cron or its time zone is invalid; the last valid schedule stays in use. Change it with: holdfast settings set',
    )
  }
}
