import type { DeliveryRow } from '../storage/read-deliveries.ts'
import type { Delivery } from './delivery.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { LaneTable } from './lane-table.ts'
import type { Reader } from './reader.ts'

/** A message that this process has just stored without a notification: one message without options, and its delivery of the same id. */
export interface OwnMessage {
  readonly id: number
  readonly laneId: number
  readonly body: string
  readonly createdAtMs: number
}

export interface OwnMessagesOptions {
  readonly lanes: LaneTable
  readonly reader: Reader
  readonly dispatcher: Dispatcher
  /** The arrivals cursor: rows beyond it haven't been read yet. */
  cursor(): number
  /** No read is in progress or requested. */
  isAtRest(): boolean
  /** Requests a read of arrivals. */
  ringBeside(): void
}

/**
 * Same-process fast path of a message, used if its publisher and its lane are in this process: after the commit, an idle lane
 * can start it without a notification and a read. All other messages use the normal path.
 *
 * The arrivals cursor has not passed such a delivery yet. When a read passes it, it is in memory under its id, or settled and
 * removed; the lane counts it in `ahead` until then.
 */
export class OwnMessages {
  readonly #options: OwnMessagesOptions
  readonly #ahead = new Set<Delivery>()

  constructor(options: OwnMessagesOptions) {
    this.#options = options
  }

  take({ id, laneId, body, createdAtMs }: OwnMessage): void {
    const { dispatcher, lanes, reader } = this.#options
    const lane = lanes.get(laneId)
    if (
      lane === undefined ||
      !this.#options.isAtRest() ||
      !reader.isCaughtUp(lane, 0) ||
      !reader.isNews(id)
    ) {
      this.#options.ringBeside()
      return
    }
    const row: DeliveryRow = [id, laneId, 0, Buffer.byteLength(body)]
    const delivery = dispatcher.admit(lane, row, { body, createdAtMs, rest: null })
    if (delivery !== null && id > this.#options.cursor()) {
      delivery.arrival = 'ahead'
      lane.count.cameAhead()
      this.#ahead.add(delivery)
    }
    dispatcher.pump(lane)
  }

  /** A read has reached this cursor, and is about to count its rows. */
  passed(cursor: number): void {
    for (const delivery of this.#ahead) {
      if (delivery.id > cursor) continue
      this.#ahead.delete(delivery)
      const { id, lane, arrival } = delivery
      if (arrival === 'ahead') lane.count.leftAhead()
      // The delivery ended while the read was in progress; the read most likely counted it.
      else if (arrival === 'gone' && !this.#options.reader.isNews(id)) lane.count.uncount()
      delivery.arrival = 'read'
    }
  }
}
