import { adviceForId } from '../core/delivery/id-advice.ts'
import { formatId, parseId, timeOfId } from '../core/delivery/ids.ts'
import { HoldfastError } from '../core/errors.ts'
import {
  defaultPageRows,
  type EventQuery,
  type EventSearch,
  eventQuery,
  eventSearch,
} from '../core/operations/list-filter.ts'
import type { Database } from '../storage/database.ts'
import { findDeliveriesOf } from '../storage/deliveries.ts'
import {
  type EventBody,
  type EventRecord,
  eraseMessage,
  readEventBody,
  readEventRecords,
  searchEvents,
} from '../storage/events.ts'
import { beforeEverything } from '../storage/page.ts'
import { countSiteEvents } from '../storage/rollups.ts'
import { type Criticality, criticalityOf } from './attempt.ts'
import { type Delivery, readWholeDeliveries } from './deliveries.ts'
import { checkedFilter, invalidFilter, knownId, onDatabase, type Page, readPage } from './page.ts'

/** A published event, or a message sent directly to an endpoint, as listed. */
export interface Event {
  readonly id: string
  readonly type: string | null
  readonly tenant: string | null
  readonly correlationId: string | null
  readonly orderingKey: string | null
  readonly criticality: Criticality
  /** `unrouted`: no route matched when it was published. */
  readonly state: 'routed' | 'unrouted'
  readonly sizeBytes: number
  readonly createdAt: Date
  /** When its payload was erased on request; the payload is null from then on. */
  readonly erasedAt: Date | null
}

export interface Erasure {
  readonly id: string
  /** Pending deliveries that were cancelled; only with `force`. */
  readonly cancelled: number
  /** Number of open dead letters that were settled as `erased`. */
  readonly deadLetters: number
}

export interface EraseOptions {
  /** Stored in the audit log. */
  readonly reason: string
  /** Erase the event even if it is pending: its deliveries are cancelled. */
  readonly force?: boolean | undefined
}

/** The result of one step of a search. */
export interface EventSearchStep extends Page<Event> {
  /** Number of events examined. */
  readonly scanned: number
  /** When the last examined event was accepted. Null: there was no older one. */
  readonly scannedTo: Date | null
  /** Estimated number of events accepted between `from` and `to`; null if unknown. */
  readonly total: number | null
}

export interface StoredMessage extends Event {
  readonly headers: Readonly<Record<string, string>>
  readonly metadata: Readonly<Record<string, unknown>>
  readonly payload: unknown
  /** The stored payload: JSON text with all digits, including those that a JavaScript number would lose. */
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

/** Published events and their deliveries. */
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

  /**
   * Searches payloads, newest first, in steps of about 100 ms: `nextCursor` continues where it stopped.
   *
   * @example await holdfast.events.search({ path: 'customer.id', equals: '17', from: '2030-01-01T00:00:00Z' })
   */
  async search(query: EventSearch): Promise<EventSearchStep> {
    const {
      path,
      equals,
      text,
      limit = defaultPageRows,
      cursor,
      ...filter
    } = checkedFilter(eventSearch, query)
    const before = cursor === undefined ? beforeEverything : parseId('msg', cursor)
    if (before === undefined)
      throw invalidFilter([{ path: 'cursor', message: 'must be the nextCursor of the previous page' }])
    const wanted = { filter, path: path ?? null, equals: equals ?? null, text: text ?? null }
    return onDatabase(this.#options.database(), async (database) => {
      const { ids, scanned, scannedTo } = await searchEvents(database, wanted, before, limit)
      const total =
        filter.from === undefined ? null : await countSiteEvents(database, filter.from, filter.to ?? null)
      return {
        data: ids.length === 0 ? [] : (await readEventRecords(database, ids)).map(toEvent),
        nextCursor: scannedTo === null ? null : formatId('msg', scannedTo),
        scanned,
        scannedTo: scannedTo === null ? null : new Date(timeOfId(scannedTo)),
        total,
      }
    })
  }

  /** Returns an event with its payload, its deliveries and their attempts. The id of a replay returns the original. */
  async get(id: string): Promise<EventDetail> {
    return onDatabase(this.#options.database(), async (database) => {
      const body = await readStored(database, id)
      const deliveryIds = await findDeliveriesOf(database, body.id, maxDeliveriesPerEvent)
      return { ...toStoredMessage(body), deliveries: await readWholeDeliveries(database, deliveryIds) }
    })
  }

  /**
   * Erases an event's payload permanently: body, headers, metadata, stored requests and responses, also in its dead letters. Refused while the event
   * is pending, unless forced.
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

/** The id of a replay returns the original. */
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
    orderingKey: record.orderingKey,
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
    `There is no event "${id}". ${adviceForId(id, 'msg') ?? 'It may have been dropped with the archive of its month.'}`,
    { event: id },
  )
}
