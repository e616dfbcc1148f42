import { adviceForId } from '../core/delivery/id-advice.ts'
import { formatId, parseId } from '../core/delivery/ids.ts'
import { HoldfastError } from '../core/errors.ts'
import { type DeliveryQuery, defaultPageRows, deliveryQuery } from '../core/operations/list-filter.ts'
import type { Database } from '../storage/database.ts'
import { type DeliveryRecord, readAttempts, readDeliveryRecords } from '../storage/deliveries.ts'
import { readDeliverySituation } from '../storage/delivery-situation.ts'
import { beforeEveryAttempt, findNextDeliveries, type NextAttempt } from '../storage/find.ts'
import { actOnDelivery } from '../storage/operations.ts'
import { type Attempt, type Criticality, criticalityOf, toAttempt } from './attempt.ts'
import { type DeliveryExplanation, explainEnded, explainOwed } from './delivery-explanation.ts'
import {
  checkedFilter,
  invalidFilter,
  isStill,
  knownId,
  onDatabase,
  type Page,
  type PageQuery,
  readPage,
} from './page.ts'

/** One message to be sent to one endpoint, pending or ended. */
export interface Delivery {
  readonly id: string
  /** Receivers get it as `webhook-id` (a second delivery of one message to the same endpoint adds `.1`, and so on). */
  readonly messageId: string
  /** The message that this one replays. */
  readonly replayOf: string | null
  /** Null if the endpoint has been deleted. */
  readonly endpoint: string | null
  readonly route: string | null
  readonly eventType: string | null
  readonly tenant: string | null
  readonly correlationId: string | null
  /** Only the node knows that a delivery is in flight: it is shown as `pending`. */
  readonly state:
    | 'pending'
    | 'in_flight'
    | 'succeeded'
    | 'dead'
    | 'expired'
    | 'cancelled'
    | 'dropped'
    | 'skipped'
  /** Number of attempts made. */
  readonly attempt: number
  /** Null if the delivery is ready, or no longer pending. */
  readonly nextAttemptAt: Date | null
  readonly expiresAt: Date | null
  readonly priority: number | null
  /** Null after the end of a delivery whose criticality came from its route or event type. */
  readonly criticality: Criticality | null
  readonly orderingKey: string | null
  readonly deadLetterId: string | null
  readonly lastAttemptAt: Date | null
  readonly statusCode: number | null
  readonly errorCode: string | null
  readonly error: string | null
  /** With `get`: every attempt, oldest first. */
  readonly attempts?: readonly Attempt[]
}

export interface DeliveriesOptions {
  readonly database: () => Database
  readonly actor: string
}

/** A retry policy allows a thousand attempts, in addition to probes. */
const maxAttemptsShown = 2000
const maxAttemptsShownEach = 100

/** Pending and ended deliveries: look them up, make them due, cancel them. */
export class Deliveries {
  readonly #options: DeliveriesOptions

  constructor(options: DeliveriesOptions) {
    this.#options = options
  }

  /**
   * Newest first. With `sort: 'next_attempt'`: only pending deliveries that wait for a time, the soonest first.
   *
   * @example await holdfast.deliveries.list({ endpoint: 'crm', state: 'dead', limit: 20 })
   */
  async list(query: DeliveryQuery = {}): Promise<Page<Delivery>> {
    const { sort, ...checked } = checkedFilter(deliveryQuery, query)
    if (sort === 'next_attempt') return this.#listNext(checked)
    return readPage(this.#options.database(), 'deliveries', 'dlv', checked, readDeliveryRecords, toDelivery)
  }

  async #listNext({ limit = defaultPageRows, cursor, ...filter }: PageQuery): Promise<Page<Delivery>> {
    const after = cursor === undefined ? beforeEveryAttempt : parseNextCursor(cursor)
    return onDatabase(this.#options.database(), async (database) => {
      const { found, scannedTo } = await findNextDeliveries(database, filter, after, limit + 1)
      const page = found.slice(0, limit)
      const next = found.length > limit ? (page.at(-1) ?? null) : scannedTo
      const records =
        page.length === 0
          ? []
          : await readDeliveryRecords(
              database,
              page.map(({ id }) => id),
            )
      return {
        data: records.map(toDelivery).filter((delivery) => isStill(delivery, { state: 'pending' })),
        nextCursor: next === null ? null : `${formatId('dlv', next.id)}@${next.dueUs}`,
      }
    })
  }

  /** Returns a delivery with its attempts. */
  async get(id: string): Promise<Delivery> {
    const deliveryId = knownId('dlv', id, deliveryNotFound)
    return onDatabase(this.#options.database(), async (database) => {
      const [record] = await readDeliveryRecords(database, [deliveryId])
      if (record === undefined) throw deliveryNotFound(id)
      const attempts = await readAttempts(database, [deliveryId], maxAttemptsShown)
      return { ...toDelivery(record), attempts: attempts.map((attempt) => toAttempt(attempt)) }
    })
  }

  /**
   * Explains why a delivery is not delivered yet.
   *
   * @example (await holdfast.deliveries.why('dlv_0jm3x1c8000')).sentence
   */
  async why(id: string): Promise<DeliveryExplanation> {
    const deliveryId = knownId('dlv', id, deliveryNotFound)
    return onDatabase(this.#options.database(), async (database) => {
      const situation = await readDeliverySituation(database, deliveryId)
      if (situation !== undefined) return explainOwed(situation)
      const [record] = await readDeliveryRecords(database, [deliveryId])
      if (record === undefined) throw deliveryNotFound(id)
      return explainEnded(toDelivery(record))
    })
  }

  /** Makes a delivery due now. One that is ready already stays ready. */
  retry(id: string): Promise<Delivery> {
    return this.#act(id, 'retry', null)
  }

  /** Cancels a delivery. It stays visible as cancelled. A request that is already in flight may still arrive. */
  cancel(id: string, options: { readonly reason?: string } = {}): Promise<Delivery> {
    return this.#act(id, 'cancel', options.reason ?? null)
  }

  async #act(id: string, kind: 'retry' | 'cancel', note: string | null): Promise<Delivery> {
    knownId('dlv', id, deliveryNotFound)
    const isDone = await onDatabase(this.#options.database(), (database) =>
      actOnDelivery(database, id, kind, note, this.#options.actor),
    )
    const delivery = await this.get(id)
    if (!isDone && delivery.state !== 'pending') throw deliverySettled(delivery)
    return delivery
  }
}

/** Reads deliveries with their attempts, the last hundred of each. */
export async function readWholeDeliveries(
  database: Database,
  ids: readonly number[],
): Promise<readonly Delivery[]> {
  if (ids.length === 0) return []
  const records = await readDeliveryRecords(database, ids)
  const attempts = (await readAttempts(database, ids, maxAttemptsShownEach)).map((attempt) =>
    toAttempt(attempt),
  )
  return records.map((record) => {
    const delivery = toDelivery(record)
    return { ...delivery, attempts: attempts.filter(({ deliveryId }) => deliveryId === delivery.id) }
  })
}

function parseNextCursor(cursor: string): NextAttempt {
  const [id, dueUs] = cursor.split('@')
  const number = parseId('dlv', id ?? '')
  if (number === undefined || !/^\d{1,16}$/.test(dueUs ?? '')) {
    throw invalidFilter([{ path: 'cursor', message: 'must be what the last page gave as nextCursor' }])
  }
  return { id: number, dueUs: Number(dueUs) }
}

function toDelivery(record: DeliveryRecord): Delivery {
  const { id, messageId, criticality, deadLetterId, replayId, ...rest } = record
  return {
    ...rest,
    id: formatId('dlv', id),
    messageId: formatId('msg', replayId ?? messageId),
    replayOf: replayId === null ? null : formatId('msg', messageId),
    criticality: criticality === null ? null : criticalityOf(criticality),
    deadLetterId: deadLetterId === null ? null : formatId('dlt', deadLetterId),
  }
}

function deliverySettled({ id, state }: Delivery): HoldfastError {
  return new HoldfastError(
    'delivery_settled',
    `Delivery "${id}" has already ended: it is ${state}. Redrive its dead letter, or replay it.`,
    { delivery: id, state },
  )
}

function deliveryNotFound(id: string): HoldfastError {
  return new HoldfastError(
    'delivery_not_found',
    `There is no delivery "${id}". ${adviceForId(id, 'dlv') ?? 'It may have been dropped with the archive of its month.'}`,
    { delivery: id },
  )
}
