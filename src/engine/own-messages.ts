import type { DeliveryRow } from '../storage/read-deliveries.ts'
import type { Delivery } from './delivery.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { LaneTable } from './lane-table.ts'
import type { Reader } from './reader.ts'

/** What this process has just stored, and nobody was rung for: one message without options, and its delivery of the same number. */
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
  /** Of the arrivals: what lies beyond it hasn't been read yet. */
  cursor(): number
  /** Nothing is being read, and nobody has asked for it. */
  isAtRest(): boolean
  /** Look for what came in, unless that happens all the time anyway. */
  ring(): void
}

/**
 * The short way of a message from its publisher to its lane, when both live in this process: committed is committed, so that an idle lane
 * can start it without a notification and a read. Whatever isn't plain and idle goes the long way.
 *
 * The cursor of the arrivals knows nothing of it. When a read passes such a delivery, the delivery is known by its number, or settled and
 * gone; the lane counts it in `ahead` until then.
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
      this.#options.ring()
      return
    }
    const row: DeliveryRow = [id, laneId, 0, Buffer.byteLength(body)]
    const delivery = dispatcher.admit(lane, row, { body, createdAtMs, rest: null })
    if (delivery !== null && id > this.#options.cursor()) {
      delivery.arrival = 'ahead'
      lane.ahead += 1
      this.#ahead.add(delivery)
    }
    dispatcher.pump(lane)
  }

  /** A read has got this far, and is about to count what it saw. */
  passed(cursor: number): void {
    for (const delivery of this.#ahead) {
      if (delivery.id > cursor) continue
      this.#ahead.delete(delivery)
      const { id, lane, arrival } = delivery
      if (arrival === 'ahead') lane.ahead -= 1
      // It ended while the read was under way, which saw it, most likely.
      else if (arrival === 'gone' && !this.#options.reader.isNews(id)) lane.pending -= 1
      delivery.arrival = 'read'
    }
  }
}
