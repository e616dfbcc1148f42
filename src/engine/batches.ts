import type { AttemptOutcome } from '../core/delivery/attempt.ts'
import type { BatchPolicy } from '../core/endpoints/setting-fields.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { TransportChannel } from '../transports/transport.ts'
import type { AttemptSender, BatchOutcome } from './attempt-sender.ts'
import { brokenTransport } from './broken-transport.ts'
import type { Clock, DatabaseClock } from './clock.ts'
import type { Delivery } from './delivery.ts'
import type { Lane } from './lane.ts'

export interface BatchesOptions {
  readonly sender: AttemptSender
  readonly transports: TransportRegistry
  readonly clock: Clock
  readonly databaseClock: DatabaseClock
  /** Ends a delivery that must not be sent any more; returns whether it did. */
  letGo(delivery: Delivery, nowMs: number): boolean
  reserve(lane: Lane): void
  freeSlot(lane: Lane): void
  conclude(delivery: Delivery, outcome: AttemptOutcome, speaksForRequest: boolean): void
  pump(lane: Lane): void
}

/** Sends several deliveries in one request, for endpoints with batching. */
export class Batches {
  readonly #options: BatchesOptions
  /**
   * Halves of batches that the receiver didn't accept as a whole, and deliveries for which a request had no
   * room. Each is sent as its own request, the last one first.
   */
  readonly #pieces = new Map<Lane, Delivery[][]>()
  /** The time since when a batch has been waiting to fill up. */
  readonly #gatheringSinceMs = new WeakMap<Lane, number>()

  constructor(options: BatchesOptions) {
    this.#options = options
  }

  /** A part of a split batch waits to be sent. */
  hasPieces(lane: Lane): boolean {
    return this.#pieces.has(lane)
  }

  /** Returns the parts of split batches to the line. */
  uncut(lane: Lane): void {
    const pieces = this.#pieces.get(lane)
    if (pieces === undefined) return
    this.#pieces.delete(lane)
    for (const delivery of pieces.flat()) lane.ready.add(delivery)
  }

  /** How long a batch that isn't full may still wait for more; zero if it should be sent. */
  gatherMs(lane: Lane, batch: BatchPolicy): number {
    if (this.hasPieces(lane) || lane.ready.length >= batch.maxMessages) return 0
    const nowMs = this.#options.clock.monotonicMs()
    const sinceMs = this.#gatheringSinceMs.get(lane) ?? nowMs
    this.#gatheringSinceMs.set(lane, sinceMs)
    return Math.max(0, sinceMs + batch.maxWaitMs - nowMs)
  }

  /** Restarts the waiting time of the next batch. */
  gatherAnew(lane: Lane): void {
    this.#gatheringSinceMs.delete(lane)
  }

  /** Starts one request: a part of a split batch, or up to a batch of deliveries from the line that share a rendering key. */
  start(lane: Lane, batch: BatchPolicy): void {
    const policy = lane.policy(this.#options.transports)
    if (policy === null) return
    const group = this.hasPieces(lane) ? this.#takePiece(lane) : this.#takeLine(lane, batch)
    if (group.length === 0) return
    this.#options.reserve(lane)
    for (const delivery of group) {
      delivery.startedAtMs = this.#options.clock.monotonicMs()
      delivery.breakerVersion = lane.breaker.version
    }
    void this.send(group, policy.channel)
  }

  /**
   * Sends a batch that has a slot. If the receiver doesn't accept the whole batch, it is split; the halves
   * wait for a slot and the rate limit like any request.
   */
  async send(group: readonly Delivery[], channel: TransportChannel): Promise<void> {
    const lane = group[0]?.lane
    if (lane === undefined) return
    const { outcome, refused, left } = await this.#sendOrBreak(group, channel)
    this.#options.freeSlot(lane)
    this.#addPieces(lane, [left])
    for (const [delivery, why] of refused) this.#options.conclude(delivery, why, true)
    const sent = group.slice(0, group.length - left.length).filter((delivery) => !refused.has(delivery))
    if (outcome === null) this.#cut(lane, sent)
    else this.#conclude(sent, outcome)
    this.#options.pump(lane)
  }

  #conclude(sent: readonly Delivery[], outcome: AttemptOutcome): void {
    const [first] = sent
    if (first === undefined) return
    if (sent.length === 1) {
      this.#options.conclude(first, outcome, true)
      return
    }
    // The list is kept once, in the partition of attempts that is dropped last.
    const keeper = sent.reduce((last, delivery) => (delivery.id > last.id ? delivery : last))
    const all = sent.map((delivery) => delivery.deliveryId)
    for (const delivery of sent) {
      const batch = delivery === keeper ? all : keeper.deliveryId
      this.#options.conclude(delivery, { ...outcome, batch }, delivery === first)
    }
  }

  async #sendOrBreak(group: readonly Delivery[], channel: TransportChannel): Promise<BatchOutcome> {
    const lane = group[0]?.lane
    if (lane === undefined) return { outcome: null, refused: new Map(), left: [] }
    const batch = lane.policy(this.#options.transports)?.settings.batch ?? null
    try {
      return await this.#options.sender.sendBatch(group, channel, lane.signal, batch)
    } catch (error) {
      return { outcome: brokenTransport(error), refused: new Map(), left: [] }
    }
  }

  #takePiece(lane: Lane): Delivery[] {
    const nowMs = this.#options.databaseClock.nowMs()
    const pieces = this.#pieces.get(lane) ?? []
    const piece = pieces.pop() ?? []
    if (pieces.length === 0) this.#pieces.delete(lane)
    return piece.filter((delivery) => !this.#options.letGo(delivery, nowMs))
  }

  /** Takes a batch from the line. Deliveries that render differently from the first return to the head of the line. */
  #takeLine(lane: Lane, batch: BatchPolicy): Delivery[] {
    const nowMs = this.#options.databaseClock.nowMs()
    const taken: Delivery[] = []
    let bytes = 0
    while (taken.length < batch.maxMessages && bytes < (batch.maxBytes ?? Number.POSITIVE_INFINITY)) {
      const delivery = lane.ready.take()
      if (delivery === undefined) break
      if (this.#options.letGo(delivery, nowMs)) continue
      taken.push(delivery)
      // An estimate of the body's length, which is known only when it is rendered.
      bytes += delivery.storedBody.length
    }
    const [group = [], ...others] = this.#options.sender.groupByShape(taken)
    for (const delivery of others.flat()) lane.ready.add(delivery)
    if (others.length === 0) this.gatherAnew(lane)
    return group
  }

  /** The part added last is sent first, so that few parts wait at a time. */
  #cut(lane: Lane, group: readonly Delivery[]): void {
    const middle = group.length >> 1
    this.#addPieces(lane, [group.slice(middle), group.slice(0, middle)])
  }

  #addPieces(lane: Lane, pieces: readonly (readonly Delivery[])[]): void {
    const added = pieces.filter((piece) => piece.length > 0).map((piece) => [...piece])
    if (added.length > 0) this.#pieces.set(lane, [...(this.#pieces.get(lane) ?? []), ...added])
  }
}
