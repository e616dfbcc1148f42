import { randomUUID } from 'node:crypto'
import type { AttemptOutcome } from '../core/attempt.ts'
import { suspectTreatment } from '../core/crash-suspects.ts'
import type { BatchPolicy } from '../core/endpoint-config.ts'
import { giveUpThresholdMs } from '../core/give-up.ts'
import { countsAgainstCircuit } from '../core/result-run.ts'
import type { Database } from '../storage/database.ts'
import type { DeliveryRow } from '../storage/read-deliveries.ts'
import { abandonProbe, startProbe } from '../storage/read-lanes.ts'
import type { MessageRow } from '../storage/read-messages.ts'
import { outcomeCodes } from '../storage/settle.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { TransportChannel } from '../transports/transport.ts'
import type { AttemptSender, BatchOutcome } from './attempt-sender.ts'
import type { CarefulMode } from './careful-mode.ts'
import type { Clock, DatabaseClock } from './clock.ts'
import { bestEffort, type DeathReason, decide } from './decide.ts'
import { Delivery } from './delivery.ts'
import { endingRecord, failureRecord } from './failure-record.ts'
import type { Lane } from './lane.ts'
import type { NodeLimits } from './limits.ts'
import type { Logger } from './logger.ts'
import type { NodeObserver } from './observer.ts'
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
  readonly observer: NodeObserver
  /** False while fenced or stopping: nothing new is started. */
  mayStart(): boolean
  /** The lane of the same endpoint as this node holds it now. */
  currentLane(lane: Lane): Lane | undefined
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
  /** Everything read and not yet settled, by id. A delivery that is in here is never read a second time. */
  readonly known = new Map<number, Delivery>()
  readonly #starved = new Set<Lane>()
  readonly #waitingForTurn = new Set<Lane>()
  #startsThisTurn = 0
  #inFlight = 0

  constructor(options: DispatcherOptions) {
    this.#options = options
  }

  get inFlight(): number {
    return this.#inFlight
  }

  /** Takes a delivery that was just read into the lane's line. False when it must wait or is here already. */
  admit(lane: Lane, row: DeliveryRow, message: MessageRow | null): boolean {
    const [id] = row
    const key = row[12]
    if (this.known.has(id)) return false
    if (key !== null) {
      // Not the head, or something younger of its key is still out (this one was committed late): it is found when the key is free.
      if (!row[13] || lane.busyKeys.has(key)) return false
      lane.busyKeys.add(key)
    }
    const delivery = new Delivery(lane, row, message)
    this.known.set(id, delivery)
    lane.known += 1
    if (delivery.isScheduled) lane.knownScheduled += 1
    if (message === null) this.#end(delivery, 'dead', 'message_missing')
    else lane.ready.add(delivery)
    return true
  }

  /** Takes a delivery out of memory. Its row is settled, or will be read again. */
  forget(delivery: Delivery): void {
    const { lane } = delivery
    if (!this.known.delete(delivery.id)) return
    lane.known -= 1
    if (delivery.isScheduled) lane.knownScheduled -= 1
    if (delivery.orderingKey !== null) lane.busyKeys.delete(delivery.orderingKey)
  }

  /** Puts back everything that was read but not started: the lane may not send now. */
  unread(lane: Lane): void {
    for (const delivery of lane.ready.drain()) {
      lane.rewindTo(delivery)
      this.forget(delivery)
    }
  }

  pump(lane: Lane): void {
    const { databaseClock, careful, limits, settler, transports } = this.#options
    for (;;) {
      if (!this.#options.mayStart()) return
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
      if (lane.ready.length === 0) break
      const gatherMs = policy.settings.batch === null ? 0 : lane.gatherMs(policy.settings.batch, nowMs)
      if (gatherMs > 0) {
        // A line that waits to fill up isn't one that moves slowly: it must be read far enough ahead to fill up.
        lane.readAhead = Math.max(lane.readAhead, 2 * (policy.settings.batch?.maxMessages ?? 0))
        this.#options.wakeAt(lane, nowMs + gatherMs)
        break
      }
      const waitMs = lane.takeRate(nowMs)
      if (waitMs > 0) {
        this.#options.wakeAt(lane, nowMs + waitMs)
        break
      }
      if (policy.settings.batch !== null && lane.carefulLeft === 0) {
        this.#startBatches(lane, policy.settings.batch)
        continue
      }
      const delivery = lane.ready.take()
      if (delivery === undefined) break
      if (this.#letGo(delivery, nowMs)) continue
      this.#reserve(lane)
      if (lane.carefulLeft > 0 || careful.crashesOf(delivery.id) > 0) careful.start(delivery)
      else this.start(delivery)
    }
    this.#options.requestRead(lane)
  }

  /** Lanes that stood still for want of room elsewhere. */
  pumpStarved(): void {
    if (this.#starved.size === 0) return
    const lanes = [...this.#starved]
    this.#starved.clear()
    for (const lane of lanes) this.pump(lane)
  }

  /** Sends a delivery for which a slot is reserved. */
  start(delivery: Delivery): void {
    const { lane } = delivery
    const policy = lane.policy(this.#options.transports)
    if (policy === null || lane.isDraining || !this.#options.mayStart()) {
      if (delivery.probeToken !== null) void this.#abandonProbe(lane, delivery.probeToken)
      this.release(delivery)
      return
    }
    delivery.startedAtMs = this.#options.clock.monotonicMs()
    if (delivery.probeToken === null) delivery.breakerVersion = lane.breaker.version
    if (policy.settings.batch !== null) {
      void this.#sendBatch([delivery], policy.channel)
      return
    }
    this.#options.sender.send(delivery, policy.channel, lane.signal).then(
      (outcome) => this.#finish(delivery, outcome),
      (error: unknown) => this.#finish(delivery, brokenTransport(error)),
    )
  }

  /** Takes up to a batch of one shape from the line and sends it. What has another shape is next: each request takes a slot. */
  #startBatches(lane: Lane, batch: BatchPolicy): void {
    const nowMs = this.#options.databaseClock.nowMs()
    const taken: Delivery[] = []
    while (taken.length < batch.maxMessages) {
      const delivery = lane.ready.take()
      if (delivery === undefined) break
      if (!this.#letGo(delivery, nowMs)) taken.push(delivery)
    }
    const [group, ...others] = this.#options.sender.groupByShape(taken)
    for (const delivery of others.flat()) lane.ready.add(delivery)
    if (others.length === 0) lane.gatheringSinceMs = null
    const policy = lane.policy(this.#options.transports)
    if (policy === null || group === undefined) return
    this.#reserve(lane)
    for (const delivery of group) {
      delivery.startedAtMs = this.#options.clock.monotonicMs()
      delivery.breakerVersion = lane.breaker.version
    }
    void this.#sendBatch(group, policy.channel)
  }

  async #sendBatch(group: readonly Delivery[], channel: TransportChannel): Promise<void> {
    const [first] = group
    if (first === undefined) return
    const { lane } = first
    let outcomes: readonly BatchOutcome[]
    try {
      outcomes = await this.#options.sender.sendBatch(group, channel, lane.signal)
    } catch (error) {
      outcomes = [{ deliveries: group, outcome: brokenTransport(error) }]
    }
    this.#freeSlot(lane)
    for (const { deliveries, outcome } of outcomes) {
      deliveries.forEach((delivery, index) => {
        // One request says one thing about the receiver's health, but refuses as many messages as it carried.
        this.#conclude(delivery, outcome, index === 0 || outcome.class === 'permanent')
      })
    }
    this.pump(lane)
  }

  /** What must not be sent any more ends here: expired, owed for too long, or present at three crashes. */
  #letGo(delivery: Delivery, nowMs: number): boolean {
    if (delivery.expiresAtMs !== null && delivery.expiresAtMs <= nowMs) {
      this.#end(delivery, 'expire', 'expired')
      return true
    }
    const crashes = this.#options.careful.crashesOf(delivery.id)
    if (crashes > 0 && suspectTreatment(crashes) === 'dead') {
      this.#end(delivery, 'dead', 'crashed_its_node')
      return true
    }
    // Before its first attempt nothing is given up here: a delivery that nobody could even try is the sweeper's, which knows why.
    if (delivery.attemptsMade === 0) return false
    const policy = delivery.lane.policy(this.#options.transports)
    if (policy === null) return false
    const { giveUpAfterMs } = policy.settings.retry
    if (delivery.owedSinceMs > nowMs - giveUpAfterMs) return false
    if (delivery.owedSinceMs > giveUpThresholdMs({ nowMs, giveUpAfterMs, pauses: policy.pauses }))
      return false
    this.#end(delivery, 'dead', 'gave_up')
    return true
  }

  #end(
    delivery: Delivery,
    action: 'dead' | 'expire',
    reason: DeathReason | 'expired' | 'message_missing',
  ): void {
    const isDropped = action === 'dead' && delivery.criticality === bestEffort
    this.#options.settler.fail(
      endingRecord(delivery, isDropped ? 'drop' : action, reason, this.#options.clock.monotonicMs()),
    )
  }

  /** Its route was deleted after it was read, or while it was being published: nothing was tried. */
  #cancel(delivery: Delivery, why: string): void {
    const record = endingRecord(delivery, 'expire', 'cancelled', this.#options.clock.monotonicMs())
    this.#options.settler.fail({ ...record, action: 'cancel', outcome: outcomeCodes.cancelled, error: why })
  }

  #probe(lane: Lane): void {
    const policy = lane.policy(this.#options.transports)
    const delivery = lane.ready.take()
    if (policy === null || delivery === undefined) {
      this.#options.requestRead(lane)
      return
    }
    this.unread(lane)
    if (this.#letGo(delivery, this.#options.databaseClock.nowMs())) {
      this.pump(lane)
      return
    }
    void this.#sendProbe(lane, delivery, policy.settings.config.timeoutMs + probeGraceMs)
  }

  async #sendProbe(lane: Lane, delivery: Delivery, timeoutMs: number): Promise<void> {
    const token = randomUUID()
    lane.probeInFlight = token
    this.#reserve(lane)
    let version: number | null = null
    try {
      version = await startProbe(this.#options.database, lane.id, token, timeoutMs)
    } catch (error) {
      this.#options.logger.warn({ endpoint: lane.name, error: String(error) }, 'A probe could not be started')
    }
    if (version === null) {
      // Somebody else probes, or the circuit has been reset: look again.
      lane.probeInFlight = null
      this.release(delivery)
      this.#options.refresh(lane)
      return
    }
    lane.setBreaker({
      ...lane.breaker,
      version,
      state: 'half_open',
      probeExpiresAtMs: this.#options.databaseClock.nowMs() + timeoutMs,
    })
    delivery.probeToken = token
    delivery.breakerVersion = version
    this.start(delivery)
  }

  /** The lane was lost or shut between the grant and the sending; whoever is next needn't wait for the token to expire. */
  async #abandonProbe(lane: Lane, token: string): Promise<void> {
    lane.probeInFlight = null
    try {
      await abandonProbe(this.#options.database, lane.id, token)
    } catch (error) {
      this.#options.logger.warn(
        { endpoint: lane.name, error: String(error) },
        'A probe could not be given back',
      )
    }
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
    const lanes = [...this.#waitingForTurn]
    this.#waitingForTurn.clear()
    for (const lane of lanes) this.pump(lane)
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

  /** Takes in what became of one delivery. */
  #conclude(delivery: Delivery, outcome: AttemptOutcome, saysHealth: boolean): void {
    const { lane } = delivery
    const { settler, observer } = this.#options
    if (outcome.error?.code === 'aborted') {
      if (delivery.probeToken !== null) lane.probeInFlight = null
      this.#putBack(delivery)
      return
    }
    // Its settings changed while it was being rendered: nothing was tried.
    if (outcome.error?.code === 'channel_closed') {
      if (delivery.probeToken !== null) void this.#abandonProbe(lane, delivery.probeToken)
      this.#putBack(delivery)
      return
    }
    if (outcome.error?.code === 'route_deleted') {
      if (delivery.probeToken !== null) void this.#abandonProbe(lane, delivery.probeToken)
      this.#cancel(delivery, outcome.error.message)
      return
    }
    observer.attempted(delivery, outcome)
    const isSuccess = outcome.class === 'success'
    if (isSuccess) {
      settler.succeed({
        id: delivery.id,
        messageId: delivery.rowMessageId,
        laneId: lane.id,
        routeId: delivery.routeId,
        attempt: delivery.attempt,
        startedAtMs: delivery.startedAtMs,
        durationMs: Math.round(outcome.durationMs),
        statusCode: outcome.statusCode ?? null,
      })
    } else {
      this.#settleFailure(delivery, outcome)
    }
    if (!saysHealth) return
    this.#noteHealth(delivery, outcome)
    lane.noteRamp(isSuccess, outcome.isHealthFailure)
  }

  #settleFailure(delivery: Delivery, outcome: AttemptOutcome): void {
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
        nowMs: this.#options.databaseClock.nowMs(),
        random: Math.random,
      },
    )
    if (decision.action === 'retry' && decision.holdEndpointMs > 0) lane.health.hold(decision.holdEndpointMs)
    this.#options.settler.fail(failureRecord(delivery, outcome, decision, policy.settings.onDead === 'block'))
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

function brokenTransport(error: unknown): AttemptOutcome {
  return {
    class: 'retryable',
    isHealthFailure: false,
    durationMs: 0,
    error: { code: 'transport_error', message: error instanceof Error ? error.message : String(error) },
  }
}
