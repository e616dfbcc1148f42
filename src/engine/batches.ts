import type { AttemptOutcome } from '../core/delivery/attempt.ts'
import type { BatchPolicy } from '../core/endpoints/endpoint-config.ts'
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
  /** True when the delivery must not be sent any more, and has ended. */
  letGo(delivery: Delivery, nowMs: number): boolean
  reserve(lane: Lane): void
  freeSlot(lane: Lane): void
  conclude(delivery: Delivery, outcome: AttemptOutcome, speaksForRequest: boolean): void
  pump(lane: Lane): void
}

/** Several deliveries in one request, for endpoints that ask for it. */
export class Batches {
  readonly #options: BatchesOptions

  constructor(options: BatchesOptions) {
    this.#options = options
  }

  /** Starts one request: a piece of a batch that was cut, or up to a batch of one shape from the line. */
  start(lane: Lane, batch: BatchPolicy): void {
    const policy = lane.policy(this.#options.transports)
    if (policy === null) return
    const group = lane.pieces.length > 0 ? this.#takePiece(lane) : this.#takeLine(lane, batch)
    if (group.length === 0) return
    this.#options.reserve(lane)
    for (const delivery of group) {
      delivery.startedAtMs = this.#options.clock.monotonicMs()
      delivery.breakerVersion = lane.breaker.version
    }
    void this.send(group, policy.channel)
  }

  /** Sends what has a slot. What the receiver can't take as a whole is cut; its halves wait for a slot and the rate like any request. */
  async send(group: readonly Delivery[], channel: TransportChannel): Promise<void> {
    const lane = group[0]?.lane
    if (lane === undefined) return
    const { outcome, refused } = await this.#sendOrBreak(group, channel)
    this.#options.freeSlot(lane)
    for (const [delivery, why] of refused) this.#options.conclude(delivery, why, true)
    const left = refused.size === 0 ? group : group.filter((delivery) => !refused.has(delivery))
    if (outcome === null) cut(lane, left)
    else for (const delivery of left) this.#options.conclude(delivery, outcome, delivery === left[0])
    this.#options.pump(lane)
  }

  async #sendOrBreak(group: readonly Delivery[], channel: TransportChannel): Promise<BatchOutcome> {
    const lane = group[0]?.lane
    if (lane === undefined) return { outcome: null, refused: new Map() }
    const maxBytes = lane.policy(this.#options.transports)?.settings.batch?.maxBytes ?? null
    try {
      return await this.#options.sender.sendBatch(group, channel, lane.signal, maxBytes)
    } catch (error) {
      return { outcome: brokenTransport(error), refused: new Map() }
    }
  }

  #takePiece(lane: Lane): Delivery[] {
    const nowMs = this.#options.databaseClock.nowMs()
    const piece = lane.pieces.pop() ?? []
    return piece.filter((delivery) => !this.#options.letGo(delivery, nowMs))
  }

  /** What has another shape than the first goes back: it is next. */
  #takeLine(lane: Lane, batch: BatchPolicy): Delivery[] {
    const nowMs = this.#options.databaseClock.nowMs()
    const taken: Delivery[] = []
    let bytes = 0
    while (taken.length < batch.maxMessages && bytes < (batch.maxBytes ?? Number.POSITIVE_INFINITY)) {
      const delivery = lane.ready.take()
      if (delivery === undefined) break
      if (this.#options.letGo(delivery, nowMs)) continue
      taken.push(delivery)
      // A guess at the length of the body, which is known when it is rendered.
      bytes += delivery.storedBody.length
    }
    const [group = [], ...others] = this.#options.sender.groupByShape(taken)
    for (const delivery of others.flat()) lane.ready.add(delivery)
    if (others.length === 0) lane.gatheringSinceMs = null
    return group
  }
}

/** The last one is taken first: the cutting goes into the depth, and few pieces wait. */
function cut(lane: Lane, group: readonly Delivery[]): void {
  const middle = group.length >> 1
  for (const piece of [group.slice(middle), group.slice(0, middle)])
    if (piece.length > 0) lane.pieces.push(piece)
}
