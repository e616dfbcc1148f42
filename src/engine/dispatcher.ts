import type { AttemptOutcome } from '../core/delivery/attempt.ts'
import type { BatchPolicy } from '../core/endpoints/setting-fields.ts'
import type { Database } from '../storage/database.ts'
import type { InFlight } from '../storage/in-flight.ts'
import { type DeliveryRow, isHeadOf, orderingKeyOf } from '../storage/read-deliveries.ts'
import type { Message } from '../storage/read-messages.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { AttemptSender } from './attempt-sender.ts'
import { Batches } from './batches.ts'
import { brokenTransport } from './broken-transport.ts'
import type { CarefulMode } from './careful-mode.ts'
import type { Clock, DatabaseClock } from './clock.ts'
import { Decider } from './decider.ts'
import { Delivery } from './delivery.ts'
import type { DeliverySettler } from './delivery-settler.ts'
import { Endings } from './endings.ts'
import type { Lane } from './lane.ts'
import type { LanePolicy } from './lane-policy.ts'
import type { NodeLimits } from './limits.ts'
import type { Logger } from './logger.ts'
import type { NodeObserver } from './observer.ts'
import { Probes } from './probes.ts'

export interface DispatcherOptions {
  readonly database: Database
  readonly transports: TransportRegistry
  readonly sender: AttemptSender
  readonly settler: DeliverySettler
  readonly careful: CarefulMode
  readonly clock: Clock
  readonly databaseClock: DatabaseClock
  readonly limits: NodeLimits
  readonly logger: Logger
  readonly observer: Required<NodeObserver>
  /** False while fenced or stopping: nothing new is started. */
  mayWork(): boolean
  /** The current lane object of the same endpoint on this node. */
  currentLane(lane: Lane): Lane | undefined
  /** An attempt has started that didn't end immediately. */
  begun(): void
  /** The lane has room for more deliveries. */
  requestRead(lane: Lane): void
  /** Pump the lane again at this time (database time). */
  wakeAt(lane: Lane, atMs: number): void
  /** The lane's row may have changed, or its settings are unusable. */
  refresh(lanes: readonly Lane[]): void
  holdLane(lane: Lane, reason: string): void
}

/** `waits`: no further attempt can start at the moment. `shut`: in addition, nothing needs to be read. */
type Step = 'started' | 'waits' | 'shut'

const maxStartsPerTurn = 256

/** A probe's token outlives its request by this much, so that the next probe doesn't start before a slow answer arrives. */
const probeGraceMs = 5000

/**
 * Starts deliveries, and passes their outcomes to the decider. Starting is driven by events (a delivery was read, finished, settled, became due);
 * `pump` is safe to call at any time and starts what the lane's rules allow at that moment.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #endings: Endings
  readonly #batches: Batches
  readonly #probes: Probes
  readonly #decider: Decider
  /** Everything read and not yet settled, by id. A delivery that is in here is never read a second time. */
  readonly known = new Map<number, Delivery>()
  /** Ordering keys with a delivery in memory: the next delivery of the key waits until it has ended. */
  readonly #busyKeys = new WeakMap<Lane, Set<string>>()
  readonly #starved = new Set<Lane>()
  readonly #waitingForTurn = new Set<Lane>()
  #startsThisTurn = 0
  #inFlight = 0

  constructor(options: DispatcherOptions) {
    this.#options = options
    this.#endings = new Endings(options)
    this.#batches = new Batches({
      ...options,
      letGo: (delivery, nowMs) => this.#endings.letGo(delivery, nowMs),
      reserve: (lane) => this.#reserve(lane),
      freeSlot: (lane) => this.#freeSlot(lane),
      conclude: (delivery, outcome, speaksForRequest) =>
        this.#decider.conclude(delivery, outcome, speaksForRequest),
      pump: (lane) => this.pump(lane),
    })
    this.#probes = new Probes({
      ...options,
      start: (delivery) => this.start(delivery),
      release: (delivery) => this.release(delivery),
    })
    this.#decider = new Decider({
      ...options,
      endings: this.#endings,
      probes: this.#probes,
      putBack: (delivery) => this.#putBack(delivery),
    })
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** Attempts that have begun and whose results aren't stored yet. */
  listInFlight(maxEntries: number): InFlight[] {
    const nowMs = this.#options.clock.monotonicMs()
    const listed: InFlight[] = []
    for (const { id, startedAtMs } of this.known.values()) {
      if (startedAtMs === 0) continue
      listed.push({ id, ageMs: nowMs - startedAtMs })
      if (listed.length >= maxEntries) break
    }
    return listed
  }

  /** Adds a delivery that was just read to the lane's line. Returns null if it must wait or is in memory already. */
  admit(lane: Lane, row: DeliveryRow, message: Message | null): Delivery | null {
    const [id] = row
    const key = orderingKeyOf(row)
    if (this.known.has(id)) return null
    if (key !== null) {
      // Not the first of its key, or a younger delivery of its key is still in flight (this one was committed late): it is read again when the key is free.
      const busyKeys = this.#busyKeysOf(lane)
      if (!isHeadOf(row) || busyKeys.has(key)) return null
      busyKeys.add(key)
    }
    const delivery = new Delivery(lane, row, message)
    this.known.set(id, delivery)
    lane.known += 1
    if (delivery.isScheduled) lane.knownScheduled += 1
    if (message === null) this.#endings.end(delivery, 'dead', 'message_missing')
    else lane.ready.add(delivery)
    return delivery
  }

  /** Removes a delivery from memory. Its row is settled, or will be read again. */
  forget(delivery: Delivery): void {
    const { lane } = delivery
    if (!this.known.delete(delivery.id)) return
    lane.known -= 1
    if (delivery.isScheduled) lane.knownScheduled -= 1
    if (delivery.arrival === 'ahead') lane.count.leftAhead()
    delivery.arrival = 'read'
    if (delivery.orderingKey !== null) this.#busyKeysOf(lane).delete(delivery.orderingKey)
  }

  /** Returns all deliveries that were read but not started, because the lane may not send now. */
  unread(lane: Lane): void {
    this.#batches.uncut(lane)
    for (const delivery of lane.ready.drain()) this.#putBack(delivery)
  }

  pump(lane: Lane): void {
    let step: Step
    do step = this.#startNext(lane)
    while (step === 'started')
    if (step === 'waits') this.#options.requestRead(lane)
  }

  /** Restarts the waiting time of the lane's next batch. */
  gatherAnew(lane: Lane): void {
    this.#batches.gatherAnew(lane)
  }

  #startNext(lane: Lane): Step {
    const { careful, databaseClock } = this.#options
    const nowMs = databaseClock.nowMs()
    const policy = this.#passGate(lane, nowMs)
    if (policy === null) return 'shut'
    if (!this.#hasRoom(lane)) return 'waits'
    const { batch } = policy.settings
    const sendsBatches = batch !== null && !careful.isCareful(lane)
    if (!sendsBatches) this.#batches.uncut(lane)
    if (lane.ready.length === 0 && !this.#batches.hasPieces(lane)) return 'waits'
    if (this.#mustWait(lane, batch, nowMs)) return 'waits'
    if (sendsBatches) {
      this.#batches.start(lane, batch)
      this.#options.begun()
      return 'started'
    }
    const delivery = lane.ready.take()
    if (delivery === undefined) return 'waits'
    if (this.#endings.letGo(delivery, nowMs)) return 'started'
    this.#reserve(lane)
    if (careful.isCareful(lane) || careful.crashesOf(delivery.id) > 0) careful.start(delivery)
    else this.#send(delivery, policy)
    return 'started'
  }

  /** Returns null if the lane may send nothing, or only a probe; its deliveries that were read are returned. */
  #passGate(lane: Lane, nowMs: number): LanePolicy | null {
    const policy = this.#options.mayWork() ? lane.policy(this.#options.transports) : undefined
    if (policy === null) this.#options.holdLane(lane, lane.holdReason ?? 'its settings are unusable')
    if (policy === null || policy === undefined) {
      this.unread(lane)
      return null
    }
    const gate = lane.gate(nowMs)
    if (gate.kind === 'open') return policy
    if (gate.kind === 'probe') {
      this.#probe(lane)
      return null
    }
    this.unread(lane)
    if (gate.untilMs !== Number.POSITIVE_INFINITY) this.#options.wakeAt(lane, gate.untilMs)
    return null
  }

  /** Whether another attempt may start: in this lane, in this turn of the event loop, and on this node. */
  #hasRoom(lane: Lane): boolean {
    const { limits, settler } = this.#options
    if (lane.inFlight >= lane.concurrency) return false
    if (this.#startsThisTurn >= maxStartsPerTurn) {
      this.#pumpNextTurn(lane)
      return false
    }
    const isFull = this.#inFlight >= limits.maxInFlight && lane.inFlight >= limits.minInFlightPerLane
    if (isFull || settler.unsettled >= limits.maxUnsettled) {
      this.#starved.add(lane)
      return false
    }
    return true
  }

  /** Waits if a batch may still fill up, or the rate limit allows no start now: the lane is pumped again at that time. */
  #mustWait(lane: Lane, batch: BatchPolicy | null, nowMs: number): boolean {
    const gatherMs = batch === null ? 0 : this.#batches.gatherMs(lane, batch)
    if (batch !== null && gatherMs > 0) lane.reading.pace.readAtLeast(2 * batch.maxMessages)
    const waitMs = gatherMs > 0 ? gatherMs : lane.takeRate(this.#options.clock.monotonicMs())
    if (waitMs > 0) this.#options.wakeAt(lane, nowMs + waitMs)
    return waitMs > 0
  }

  #busyKeysOf(lane: Lane): Set<string> {
    const known = this.#busyKeys.get(lane)
    if (known !== undefined) return known
    const keys = new Set<string>()
    this.#busyKeys.set(lane, keys)
    return keys
  }

  /** Pumps lanes that stopped because the node had no room. */
  pumpStarved(): void {
    if (this.#starved.size === 0) return
    const { limits, settler } = this.#options
    // A copy: a lane that finds no room is added again, and must not be pumped in an endless loop.
    const starved = [...this.#starved]
    for (const lane of starved) {
      // There is no room left: the remaining lanes needn't be tried one by one.
      if (settler.unsettled >= limits.maxUnsettled) break
      this.#starved.delete(lane)
      this.pump(lane)
    }
  }

  /** Sends a delivery for which a slot is reserved. */
  start(delivery: Delivery): void {
    const { lane } = delivery
    const policy = lane.policy(this.#options.transports)
    if (policy === null || lane.isDraining || !this.#options.mayWork()) {
      if (delivery.probeToken !== null) void this.#probes.abandon(lane, delivery.probeToken)
      this.release(delivery)
      return
    }
    if (this.#send(delivery, policy)) this.pump(lane)
  }

  /** Returns true if the attempt has ended already: handlers in this process may answer immediately, and a promise for each would cost measurably. */
  #send(delivery: Delivery, policy: LanePolicy): boolean {
    const { lane } = delivery
    delivery.startedAtMs = this.#options.clock.monotonicMs()
    if (delivery.probeToken === null) delivery.breakerVersion = lane.breaker.version
    if (policy.settings.batch !== null) {
      this.#options.begun()
      void this.#batches.send([delivery], policy.channel)
      return false
    }
    let outcome: AttemptOutcome | Promise<AttemptOutcome>
    try {
      outcome = this.#options.sender.send(delivery, policy.channel, lane.signal)
    } catch (error) {
      outcome = brokenTransport(error)
    }
    if (outcome instanceof Promise) {
      this.#options.begun()
      outcome.then(
        (late) => this.#finish(delivery, late),
        (error: unknown) => this.#finish(delivery, brokenTransport(error)),
      )
      return false
    }
    this.#freeSlot(lane)
    this.#decider.conclude(delivery, outcome, true)
    return true
  }

  #probe(lane: Lane): void {
    const policy = lane.policy(this.#options.transports)
    const delivery = lane.ready.take()
    if (policy === null || delivery === undefined) {
      this.#options.requestRead(lane)
      return
    }
    this.unread(lane)
    if (this.#endings.letGo(delivery, this.#options.databaseClock.nowMs())) {
      this.pump(lane)
      return
    }
    this.#reserve(lane)
    void this.#probes.send(lane, delivery, policy.settings.config.timeoutMs + probeGraceMs)
  }

  /**
   * Handlers that answer immediately finish in the same turn of the event loop, and would block it until the whole line is processed.
   * The next turn lets results be settled and rows be read in between.
   */
  #pumpNextTurn(lane: Lane): void {
    this.#waitingForTurn.add(lane)
  }

  #endTurn(): void {
    this.#startsThisTurn = 0
    for (const lane of this.#waitingForTurn) {
      // Another turn has been scheduled by then.
      if (this.#startsThisTurn >= maxStartsPerTurn) break
      this.#waitingForTurn.delete(lane)
      this.pump(lane)
    }
  }

  #reserve(lane: Lane): void {
    if (this.#startsThisTurn === 0) setImmediate(() => this.#endTurn())
    this.#startsThisTurn += 1
    lane.inFlight += 1
    lane.reading.pace.noteStart()
    this.#inFlight += 1
  }

  #freeSlot(lane: Lane): void {
    lane.inFlight -= 1
    this.#inFlight -= 1
  }

  /** Releases the slot and returns the delivery to the line without an attempt. */
  release(delivery: Delivery): void {
    this.#freeSlot(delivery.lane)
    this.#putBack(delivery)
  }

  #putBack(delivery: Delivery): void {
    delivery.lane.reading.rewindTo(delivery)
    this.forget(delivery)
    const current = this.#options.currentLane(delivery.lane)
    if (current !== undefined && current !== delivery.lane) {
      // The shard was lost and taken again meanwhile: the new lane object has skipped this delivery.
      current.reading.rewindTo(delivery)
      this.#options.requestRead(current)
    }
    this.#options.careful.returned(delivery)
  }

  #finish(delivery: Delivery, outcome: AttemptOutcome): void {
    this.#freeSlot(delivery.lane)
    this.#decider.conclude(delivery, outcome, true)
    this.pump(delivery.lane)
  }
}
