import { z } from 'zod'
import { runbookAnchor } from '../core/alerts/alert-kinds.ts'
import { formatId, parseId } from '../core/delivery/ids.ts'
import { HoldfastError } from '../core/errors.ts'
import { field } from '../core/field.ts'
import {
  type AlertRecord,
  acknowledgeAlert,
  listAlerts,
  silenceAlert,
  withdrawAcknowledgement,
} from '../storage/alerts.ts'
import type { Database } from '../storage/database.ts'
import { beforeEverything } from '../storage/page.ts'
import { checkedFilter, invalidFilter, knownId, onDatabase, type Page } from './page.ts'

export interface Alert extends Omit<AlertRecord, 'id'> {
  /** `alt_…` */
  readonly id: string
  /** The section of docs/runbook.md that says what to do. */
  readonly runbook: string
}

export interface AlertsOptions {
  readonly database: () => Database
  readonly actor: string
}

const states = ['pending', 'firing', 'resolved'] as const
const maxListed = 1000
const defaultListed = 100

const alertQuery = z.strictObject({
  state: field.oneOf(...states).optional(),
  limit: field.wholeNumber(1, maxListed).optional(),
  cursor: field.text(64).optional(),
})

export type AlertQuery = z.input<typeof alertQuery>

/** Incidents that alert rules found, open and resolved. */
export class Alerts {
  readonly #options: AlertsOptions

  constructor(options: AlertsOptions) {
    this.#options = options
  }

  /** Newest first; firing and resolved ones, unless a state is given. */
  async list(query: AlertQuery = {}): Promise<Page<Alert>> {
    const { state, limit = defaultListed, cursor } = checkedFilter(alertQuery, query)
    const before = cursor === undefined ? beforeEverything : parseId('alt', cursor)
    if (before === undefined) {
      throw invalidFilter([{ path: 'cursor', message: 'must be the nextCursor of the previous page' }])
    }
    const wanted = state === undefined ? ['firing', 'resolved'] : [state]
    const rows = await onDatabase(this.#options.database(), (database) =>
      listAlerts(database, wanted, before, limit + 1),
    )
    const data = rows.slice(0, limit).map(toAlert)
    return { data, nextCursor: rows.length > limit ? (data.at(-1)?.id ?? null) : null }
  }

  /** Acknowledges the alert: no more reminders are sent, but its end still is. */
  async acknowledge(id: string, options: { note?: string } = {}): Promise<void> {
    const alert = knownId('alt', id, notFound)
    const isKnown = await onDatabase(this.#options.database(), (database) =>
      acknowledgeAlert(database, alert, this.#options.actor, options.note ?? null),
    )
    if (!isKnown) throw notFound(id)
  }

  /** Withdraws an acknowledgement: reminders are sent again. */
  async withdrawAcknowledgement(id: string): Promise<void> {
    const alert = knownId('alt', id, notFound)
    const isKnown = await onDatabase(this.#options.database(), (database) =>
      withdrawAcknowledgement(database, alert, this.#options.actor),
    )
    if (!isKnown) throw notFound(id)
  }

  /** Silences the alert until then; null ends the silence. */
  async silence(id: string, until: Date | null, options: { note?: string } = {}): Promise<void> {
    const alert = knownId('alt', id, notFound)
    const isKnown = await onDatabase(this.#options.database(), (database) =>
      silenceAlert(database, alert, until, this.#options.actor, options.note ?? null),
    )
    if (!isKnown) throw notFound(id)
  }
}

function toAlert(record: AlertRecord): Alert {
  return {
    ...record,
    id: formatId('alt', record.id),
    runbook: `docs/runbook.md#${runbookAnchor(record.kind)}`,
  }
}

function notFound(id: string): HoldfastError {
  return new HoldfastError(
    'alert_not_found',
    `There is no open alert ${id}. List them with: holdfast alerts list`,
    { alert: id },
  )
}
