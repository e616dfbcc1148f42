import { renderNotice } from '../../core/alerts/alert-notice.ts'
import { type Incident, stepAlert } from '../../core/alerts/alert-state.ts'
import type { Logger } from '../logger.ts'
import { logNotice } from './log-notice.ts'

export interface DatabaseWatchOptions {
  readonly logger: Logger
  readonly nodeName: string
  readonly runbookUrl: string
  readonly nowMs: () => number
}

const timing = { holdMs: 30_000, remindMs: 900_000, clearMs: 30_000 }

/**
 * The one alert that can't be stored in the database: the database is unavailable. Each node watches for it, and writes it to its log, the only channel
 * that still works.
 */
export class DatabaseWatch {
  readonly #options: DatabaseWatchOptions
  #incident: Incident | null = null

  constructor(options: DatabaseWatchOptions) {
    this.#options = options
  }

  look(isAway: boolean): void {
    const { logger, nodeName, nowMs, runbookUrl } = this.#options
    const sinceMs = this.#incident?.sinceMs ?? nowMs()
    const step = stepAlert(this.#incident, { isMet: isAway, nowMs: nowMs(), maySpeak: true }, timing)
    this.#incident = step.incident
    if (step.notice === null) return
    const notice = {
      kind: step.notice,
      rule: 'database-away',
      alertKind: 'database_away',
      severity: 'critical',
      incidents: [{ subject: nodeName, value: 0, threshold: 0, sinceMs }],
    } as const
    logNotice(logger, notice, renderNotice(notice, runbookUrl), null)
  }
}
