import type { AttemptOutcome } from '../core/delivery/attempt.ts'
import { decide } from '../core/delivery/decide.ts'
import { countsAgainstCircuit } from '../core/health/result-tally.ts'
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
import { Delivery } from './delivery.ts'
import { Endings } from './endings.ts'
import { failureRecord } from './failure-record.ts'
import type { Lane } from './lane.ts'
import type { LanePolicy } from './lane-policy.ts'
import type { NodeLimits } from './limits.ts'
import type { Logger } from './logger.ts'
import type { NodeObserver } from './observer.ts'
import { Probes } from './probes.ts'
import type { Settler } from './settler.ts'

export interface DispatcherOptions {
  readonly database: Database
  readonly transports: TransportRegistry
  readonly sender: AttemptSender
  readonly settler: Settler
  readonly careful: CarefulMode
  readonly clock: Clock
  readonly databaseClock: DatabaseClock
  readonly limits: NodeLimits
  readonly logger: Logger
  readonly observer: Required<NodeObserver>
  /** False while fenced or stopping: nothing new is started. */
  mayStart(): boolean
  /** The lane of the same endpoint as this node holds it now. */
  currentLane(lane: Lane): Lane | undefined
  /** An attempt is under way that didn't end at once. */
  begun(): void
  /** The lane could use more deliveries. */
  requestRead(lane: Lane): void
  /** Look at the lane again at this time (database time). */
  wakeAt(lane: Lane, atMs: number): void
  /** The lane's row may have changed, or its settings turned out to be unusable. */
  refresh(lane: Lane): void
  holdLane(lane: Lane, reason: string): void
}

const maxStartsPerTurn = 256

/** A probe's token outlives its request by this much, so that a slow answer isn't overtaken by the next probe. */
const probeGraceMs = 5000

/**
 * Starts deliveries and takes in their outcomes. Starting is driven by events (something was read, finished, settled, became due);
 * `pump` is safe to call at any time and starts whatever the lane's rules allow at that moment.
 */
export class Dispatcher {
  readonly #options: DispatcherOptions
  readonly #endings: Endings
  readonly #batches: Batches
  readonly #probes: Probes
  /** Everything read and not yet settled, by id. A delivery that is in here is never read a second time. */
  readonly known = new Map<number, Delivery>()
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
      conclude: (delivery, outcome, speaksForRequest) => this.#conclude(delivery, outcome, speaksForRequest),
      pump: (lane) => this.pump(lane),
    })
    this.#probes = new Probes({
      ...options,
      start: (delivery) => this.start(delivery),
      release: (delivery) => this.release(delivery),
      refresh: (lane) => this.#options.refresh(lane),
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

  /** Takes a delivery that was just read into the lane's line. Null when it must wait or is here already. */
  admit(lane: Lane, row: DeliveryRow, message: Message | null): Delivery | null {
    const [id] = row
    const key = orderingKeyOf(row)
    if (this.known.has(id)) return null
    if (key !== null) {
      // Not the head, or something younger of its key is still out (this one was committed late): it is found when the key is free.
      if (!isHeadOf(row) || lane.busyKeys.has(key)) return null
      lane.busyKeys.add(key)
    }
    const delivery = new Delivery(lane, row, message)
    this.known.set(id, delivery)
    lane.known += 1
    if (delivery.isScheduled) lane.knownScheduled += 1
    if (message === null) this.#endings.end(delivery, 'dead', 'message_missing')
    else lane.ready.add(delivery)
    return delivery
  }

  /** Takes a delivery out of memory. Its row is settled, or will be read again. */
  forget(delivery: Delivery): void {
    const { lane } = delivery
    if (!this.known.delete(delivery.id)) return
    lane.known -= 1
    if (delivery.isScheduled) lane.knownScheduled -= 1
    if (delivery.arrival === 'ahead') lane.ahead -= 1
    delivery.arrival = 'read'
    if (delivery.orderingKey !== null) lane.busyKeys.delete(delivery.orderingKey)
  }

  /** Puts back everything that was read but not started: the lane may not send now. */
  unread(lane: Lane): void {
    lane.uncut()
    for (const delivery of lane.ready.drain()) this.#putBack(delivery)
  }

  pump(lane: Lane): void {
    const { clock, databaseClock, careful, limits, settler, transports } = this.#options
    for (;;) {
      if (!this.#options.mayStart()) {
        this.unread(lane)
        return
      }
      const policy = lane.policy(transports)
      if (policy === null) {
        this.#options.holdLane(lane, lane.holdReason ?? 'its settings are unusable')
        this.unread(lane)
        return
      }
      const nowMs = databaseClock.nowMs()
      const gate = lane.gate(nowMs)
      if (gate.kind === 'shut') {
        this.unread(lane)
        if (gate.untilMs !== Number.POSITIVE_INFINITY) this.#options.wakeAt(lane, gate.untilMs)
        return
      }
      if (gate.kind === 'probe') {
        this.#probe(lane)
        return
      }
      if (lane.inFlight >= lane.concurrency) break
      if (this.#startsThisTurn >= maxStartsPerTurn) {
        this.#pumpNextTurn(lane)
        break
      }
      if (this.#inFlight >= limits.maxInFlight && lane.inFlight >= limits.minInFlightPerLane) {
        this.#starved.add(lane)
        break
      }
      if (settler.unsettled >= limits.maxUnsettled) {
        this.#starved.add(lane)
        break
      }
      const { batch } = policy.settings
      const sendsBatches = batch !== null && lane.carefulLeft === 0
      if (!sendsBatches) lane.uncut()
      if (lane.ready.length === 0 && lane.pieces.length === 0) break
      const gatherMs =
        batch === null || lane.pieces.length > 0 ? 0 : lane.gatherMs(batch, clock.monotonicMs())
      if (gatherMs > 0) {
        // A line that waits to fill up isn't one that moves slowly: it must be read far enough ahead to fill up.
        lane.readAhead = Math.max(lane.readAhead, 2 * (batch?.maxMessages ?? 0))
        this.#options.wakeAt(lane, nowMs + gatherMs)
        break
      }
      const waitMs = lane.takeRate(clock.monotonicMs())
      if (waitMs > 0) {
        this.#options.wakeAt(lane, nowMs + waitMs)
        break
      }
      if (sendsBatches) {
        this.#batches.start(lane, batch)
        this.#options.begun()
        continue
      }
      const delivery = lane.ready.take()
      if (delivery === undefined) break
      if (this.#endings.letGo(delivery, nowMs)) continue
      this.#reserve(lane)
      if (lane.carefulLeft > 0 || careful.crashesOf(delivery.id) > 0) careful.start(delivery)
      else this.#send(delivery, policy)
    }
    this.#options.requestRead(lane)
  }

  /** Lanes that stood still for want of room elsewhere. */
  pumpStarved(): void {
    if (this.#starved.size === 0) return
    const { limits, settler } = this.#options
    // A copy: a lane that finds no room after all comes back in, and must not be asked again and again.
    const starved = [...this.#starved]
    for (const lane of starved) {
      // The room is taken: of a thousand lanes, the rest needn't find out one by one.
      if (settler.unsettled >= limits.maxUnsettled) break
      this.#starved.delete(lane)
      this.pump(lane)
    }
  }

  /** Sends a delivery for which a slot is reserved. */
  start(delivery: Delivery): void {
    const { lane } = delivery
    const policy = lane.policy(this.#options.transports)
    if (policy === null || lane.isDraining || !this.#options.mayStart()) {
      if (delivery.probeToken !== null) void this.#probes.abandon(lane, delivery.probeToken)
      this.release(delivery)
      return
    }
    if (this.#send(delivery, policy)) this.pump(lane)
  }

  /** True when it is over already: handlers in this process may answer at once, and a promise for each would show. */
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
    this.#conclude(delivery, outcome, true)
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
   * Handlers that answer at once finish in the same turn of the event loop, and would keep it busy until the whole line is
   * through. In between, results must get out to be settled and rows must get in.
   */
  #pumpNextTurn(lane: Lane): void {
    this.#waitingForTurn.add(lane)
  }

  #endTurn(): void {
    this.#startsThisTurn = 0
    for (const lane of this.#waitingForTurn) {
      // Another turn has been asked for by then.
      if (this.#startsThisTurn >= maxStartsPerTurn) break
      this.#waitingForTurn.delete(lane)
      this.pump(lane)
    }
  }

  #reserve(lane: Lane): void {
    if (this.#startsThisTurn === 0) setImmediate(() => this.#endTurn())
    this.#startsThisTurn += 1
    lane.inFlight += 1
    lane.startsSinceReclaim += 1
    lane.startsSinceRead += 1
    this.#inFlight += 1
  }

  #freeSlot(lane: Lane): void {
    lane.inFlight -= 1
    this.#inFlight -= 1
  }

  /** Gives up the slot and puts the delivery back to where it was, untried. */
  release(delivery: Delivery): void {
    this.#freeSlot(delivery.lane)
    this.#putBack(delivery)
  }

  #putBack(delivery: Delivery): void {
    delivery.lane.rewindTo(delivery)
    this.forget(delivery)
    const current = this.#options.currentLane(delivery.lane)
    if (current !== undefined && current !== delivery.lane) {
      // The shard was lost and taken back meanwhile: the lane that took it back has passed this delivery by.
      current.rewindTo(delivery)
      this.#options.requestRead(current)
    }
    this.#options.careful.returned(delivery)
  }

  #finish(delivery: Delivery, outcome: AttemptOutcome): void {
    this.#freeSlot(delivery.lane)
    this.#conclude(delivery, outcome, true)
    this.pump(delivery.lane)
  }

  /** Takes in what became of one delivery. One request says one thing about its receiver: its first delivery speaks for it. */
  #conclude(delivery: Delivery, outcome: AttemptOutcome, speaksForRequest: boolean): void {
    const { lane } = delivery
    const { settler, observer } = this.#options
    if (outcome.error?.code === 'aborted') {
      if (delivery.probeToken !== null) lane.probeInFlight = null
      this.#putBack(delivery)
      return
    }
    // Its settings changed while it was being rendered: nothing was tried.
    if (outcome.error?.code === 'channel_closed') {
      if (delivery.probeToken !== null) void this.#probes.abandon(lane, delivery.probeToken)
      this.#putBack(delivery)
      return
    }
    if (outcome.origin !== undefined) {
      this.#concludeUnsent(delivery, outcome)
      return
    }
    observer.attempted(delivery, outcome, this.#options.databaseClock.nowMs())
    const isSuccess = outcome.class === 'success'
    if (isSuccess) {
      delivery.durationMs = Math.round(outcome.durationMs)
      delivery.statusCode = outcome.statusCode ?? null
      settler.succeed(delivery)
    } else {
      this.#settleFailure(delivery, outcome, !speaksForRequest)
    }
    if (!speaksForRequest) return
    this.#noteHealth(delivery, outcome)
    lane.noteRamp(isSuccess, outcome.isHealthFailure)
  }

  /** Nothing was sent: the receiver's circuit and its other messages have no part in it. */
  #concludeUnsent(delivery: Delivery, outcome: AttemptOutcome): void {
    if (delivery.probeToken !== null) {
      void this.#probes.abandon(delivery.lane, delivery.probeToken)
      delivery.probeToken = null
    }
    const { error, isSkipped, origin } = outcome
    if (origin === 'route') {
      this.#endings.cancel(delivery, error?.message ?? 'Its route was deleted.')
      return
    }
    if (isSkipped === true && error !== undefined) {
      this.#endings.skip(delivery, error)
      return
    }
    this.#options.observer.attempted(delivery, outcome, this.#options.databaseClock.nowMs())
    this.#settleFailure(delivery, outcome, false)
  }

  #settleFailure(delivery: Delivery, outcome: AttemptOutcome, isSpared: boolean): void {
    const { lane } = delivery
    const policy = lane.policy(this.#options.transports)
    if (policy === null) {
      // The settings were broken while this was out: the row stays as it is, and the lane is held.
      this.#putBack(delivery)
      return
    }
    const isProbe = delivery.probeToken !== null
    const decision = decide(
      {
        attempt: delivery.attempt,
        uncounted: delivery.uncounted,
        criticality: delivery.criticality,
        owedSinceMs: delivery.owedSinceMs,
      },
      outcome,
      {
        settings: policy.settings,
        pauses: policy.pauses,
        isProbe,
        // Nobody may come in: that is no message's fault.
        isSpared: isSpared || isShutOut(policy, outcome),
        nowMs: this.#options.databaseClock.nowMs(),
        random: Math.random,
      },
    )
    if (decision.action === 'retry' && decision.holdEndpointMs > 0) lane.health.hold(decision.holdEndpointMs)
    this.#options.settler.fail(failureRecord(delivery, outcome, decision))
  }

  #noteHealth(delivery: Delivery, outcome: AttemptOutcome): void {
    const { lane } = delivery
    if (delivery.probeToken === null && outcome.class === 'success' && lane.health.isClean) return
    const policy = lane.policy(this.#options.transports)
    if (policy === null) return
    lane.health.record(outcome, {
      messageId: delivery.rowMessageId,
      isCurrentVersion: delivery.breakerVersion === lane.breaker.version,
      nowMs: this.#options.databaseClock.nowMs(),
      autoDisable: policy.settings.autoDisable,
      isShutOut: isShutOut(policy, outcome),
    })
    if (delivery.probeToken !== null) {
      // The receiver answered without being unwell: whatever it thinks of the payload, it is back.
      lane.health.finishProbe(delivery.probeToken, !countsAgainstCircuit(outcome))
      lane.probeInFlight = null
    }
    if (lane.health.isDecisive(policy.settings.circuit.threshold)) lane.isAwaitingVerdict = true
    if (lane.health.hasNews) this.#options.settler.noteNews(lane)
  }
}

function isShutOut({ settings }: LanePolicy, { class: word, statusCode }: AttemptOutcome): boolean {
  return word !== 'success' && statusCode !== undefined && (settings.holdOn?.includes(statusCode) ?? false)
}
