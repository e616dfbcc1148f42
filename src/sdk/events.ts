import { HoldfastError } from '../core/errors.ts'
import { formatId } from '../core/ids.ts'
import { type EventQuery, eventQuery } from '../core/list-filter.ts'
import type { Database } from '../storage/database.ts'
import { findDeliveriesOf } from '../storage/deliveries.ts'
import {
  type EventBody,
  type EventRecord,
  eraseMessage,
  readEventBody,
  readEventRecords,
} from '../storage/events.ts'
import { type Criticality, criticalityOf } from './attempt.ts'
import { type Delivery, readWholeDeliveries } from './deliveries.ts'
import { checkedFilter, knownId, onDatabase, type Page, readPage } from './page.ts'

/** A published event, or a message sent straight to an endpoint, as it is listed. */
export interface Event {
  readonly id: string
  readonly type: string | null
  readonly tenant: string | null
  readonly correlationId: string | null
  readonly criticality: Criticality
  /** `unrouted`: nobody wanted it when it was published. */
  readonly state: 'routed' | 'unrouted'
  readonly sizeBytes: number
  readonly createdAt: Date
  /** When its payload was removed on request; it is null since. */
  readonly erasedAt: Date | null
}

export interface Erasure {
  readonly id: string
  /** Deliveries that were still owed and are cancelled now; only by force. */
  readonly cancelled: number
  /** Dead letters that were open and are settled as `erased`. */
  readonly deadLetters: number
}

export interface EraseOptions {
  /** Kept in the audit log. */
  readonly reason: string
  /** Also while it is owed: what is owed ends as cancelled. */
  readonly force?: boolean | undefined
}

export interface StoredMessage extends Event {
  readonly headers: Readonly<Record<string, string>>
  readonly metadata: Readonly<Record<string, unknown>>
  readonly payload: unknown
  /** The payload as it is stored: JSON text with every digit, also those that a JavaScript number would lose. */
  readonly payloadText: string
}

export interface EventDetail extends StoredMessage {
  /** Oldest first, with their attempts. */
  readonly deliveries: readonly Delivery[]
}

export interface EventsOptions {
  readonly database: () => Database
  readonly actor: string
}

const maxDeliveriesPerEvent = 1000

/** What was published, and what became of it. */
export class Events {
  readonly #options: EventsOptions

  constructor(options: EventsOptions) {
    this.#options = options
  }

  /**
   * Newest first.
   *
   * @example await holdfast.events.list({ state: 'unrouted', from: '2030-01-01T00:00:00Z' })
   */
  async list(query: EventQuery = {}): Promise<Page<Event>> {
    const checked = checkedFilter(eventQuery, query)
    return readPage(this.#options.database(), 'events', 'msg', checked, readEventRecords, toEvent)
  }

  /** With its payload, its deliveries and their attempts. The id of a replay leads to the original. */
  async get(id: string): Promise<EventDetail> {
    return onDatabase(this.#options.database(), async (database) => {
      const body = await readStored(database, id)
      const deliveryIds = await findDeliveriesOf(database, body.id, maxDeliveriesPerEvent)
      return { ...toStoredMessage(body), deliveries: await readWholeDeliveries(database, deliveryIds) }
    })
  }

  /**
   * Removes an event's payload for good: body, headers, metadata, stored requests and answers, in its dead letters, too. Refused while it is owed, unless forced.
   *
   * @example await holdfast.events.erase('msg_0jm3x1c8000', { reason: 'Ada asked us to forget her' })
   */
  async erase(id: string, { reason, force = false }: EraseOptions): Promise<Erasure> {
    if (!id.startsWith('run_')) knownId('msg', id, eventNotFound)
    const { actor } = this.#options
    return onDatabase(this.#options.database(), (database) =>
      eraseMessage(database, id, reason, force, actor),
    )
  }
}

/** The id of a replay leads to the original. */
export async function readStored(database: Database, id: string): Promise<EventBody> {
  const body = await readEventBody(database, knownId('msg', id, eventNotFound))
  if (body === undefined) throw eventNotFound(id)
  return body
}

export function toStoredMessage(body: EventBody): StoredMessage {
  return {
    ...toEvent(body),
    headers: body.headers ?? {},
    metadata: body.metadata ?? {},
    payload: JSON.parse(body.body) as unknown,
    payloadText: body.body,
  }
}

function toEvent(record: EventRecord): Event {
  return {
    id: formatId('msg', record.id),
    type: record.eventType,
    tenant: record.tenant,
    correlationId: record.correlationId,
    criticality: criticalityOf(record.criticality),
    state: record.isUnrouted ? 'unrouted' : 'routed',
    sizeBytes: record.size,
    createdAt: record.createdAt,
    erasedAt: record.erasedAt,
  }
}

function eventNotFound(id: string): HoldfastError {
  return new HoldfastError(
    'event_not_found',
    `There is no event "${id}". It may have been dropped with the archive of its month.`,
    { event: id },
  )
}
