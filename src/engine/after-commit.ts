import type { FreedKey } from '../storage/notices.ts'
import type { FailureRecord, LaneTally, SuccessRecord } from '../storage/settle.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { CarefulMode } from './careful-mode.ts'
import { type Clock, type DatabaseClock, maxClockErrorMs } from './clock.ts'
import type { Delivery } from './delivery.ts'
import type { SettledFailure } from './delivery-settler.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Lane } from './lane.ts'
import type { LaneTable } from './lane-table.ts'
import { logDeath } from './log-attempts.ts'
import type { Logger } from './logger.ts'
import type { NodeObserver } from './observer.ts'
import type { Reader } from './reader.ts'

export interface AfterCommitOptions {
  readonly lanes: LaneTable
  readonly reader: Reader
  readonly dispatcher: Dispatcher
  readonly careful: CarefulMode
  readonly transports: TransportRegistry
  readonly clock: Clock
  readonly databaseClock: DatabaseClock
  readonly observer: Required<NodeObserver>
  readonly logger: Logger
  requestRead(lane: Lane): void
  refresh(lanes: readonly Lane[]): void
  /** True when another node may own the lanes of this node by now. */
  isFenced(): boolean
  /** Tells the current owners of these lanes, which may be other nodes, that the ordering keys are free. */
  tellFreedKeys(freed: readonly FreedKey[]): void
}

const endings = {
  dead: 'dead',
  drop: 'dropped',
  expire: 'expired',
  cancel: 'cancelled',
  skip: 'skipped',
} as const

/** Runs after results are committed: removes them from memory, frees ordering keys, and reads circuits again. */
export class AfterCommit {
  readonly #options: AfterCommitOptions

  constructor(options: AfterCommitOptions) {
    this.#options = options
  }

  /** The effect of a lane's results on its circuit, to be recorded with the next flush. */
  takeTally(lane: Lane): LaneTally | null {
    const policy = lane.policy(this.#options.transports)
    if (policy === null) {
      // Results can't be evaluated without the settings. If they were kept, the lane would stay blocked after its settings have been fixed.
      lane.health.discard()
      return null
    }
    return lane.health.takeTally(
      { id: lane.id, epoch: lane.epoch, breakerVersion: lane.breaker.version },
      policy.settings.circuit,
      this.#options.databaseClock.nowMs(),
    )
  }

  successesSettled(records: readonly SuccessRecord[]): void {
    for (const record of records) this.#finished(record.id, record.laneId, null)
    this.#tellOwners(records)
    this.#reportSuccesses(records)
    this.#options.observer.settled(records.length)
    this.#options.dispatcher.pumpStarved()
  }

  failuresSettled(settled: readonly SettledFailure[]): void {
    for (const { record, isRefused } of settled) {
      if (isRefused) this.#refused(record)
      else if (record.action === 'retry') this.#scheduled(record)
      else {
        if (record.action === 'dead')
          logDeath(this.#options.logger, record, this.#options.dispatcher.known.get(record.id))
        this.#finished(record.id, record.lane, record.orderingKey)
        this.#options.observer.ended(endings[record.action], this.#transportOf(record.lane), 1)
      }
    }
    this.#options.observer.settled(settled.length)
    this.#options.dispatcher.pumpStarved()
  }

  talliesSettled(lanes: readonly Lane[], changed: ReadonlySet<number>): void {
    for (const lane of lanes) lane.health.tallySettled(this.#options.clock.monotonicMs())
    // Most results change only a count, which the owner has already.
    const asking = lanes.filter((lane) => changed.has(lane.id) || lane.isAwaitingVerdict)
    if (asking.length > 0) this.#options.refresh(asking)
  }

  /** Reading the delivery again would only fail again. This node skips it until its result is stored, which is retried periodically. */
  quarantined(record: SuccessRecord | FailureRecord): void {
    const { lanes, reader } = this.#options
    reader.shun(record.id, 'laneId' in record ? record.laneId : record.lane)
    this.#takeOut(record.id)
    const lane = lanes.get('laneId' in record ? record.laneId : record.lane)
    if (lane !== undefined && record.orderingKey !== null) {
      // An older delivery of the key may have been committed late, and was skipped because this one was in flight.
      lane.reading.freeKey(record.orderingKey)
      this.#options.requestRead(lane)
    }
    this.#options.dispatcher.pumpStarved()
  }

  /**
   * Any node may record a success. The lane's new owner may have tried the same delivery, failed, and scheduled a retry: that node
   * keeps the key in use until it is notified, although the row is gone.
   */
  #tellOwners(records: readonly SuccessRecord[]): void {
    const { lanes } = this.#options
    const mayBeOthers = this.#options.isFenced()
    const freed: FreedKey[] = []
    for (const { laneId, orderingKey } of records) {
      if (orderingKey === null) continue
      if (mayBeOthers || lanes.get(laneId) === undefined) freed.push({ laneId, key: orderingKey })
    }
    if (freed.length > 0) this.#options.tellFreedKeys(freed)
  }

  /** Most of a batch belongs to one lane: consecutive deliveries of a lane are reported once. */
  #reportSuccesses(records: readonly SuccessRecord[]): void {
    let from = 0
    for (let at = 1; at <= records.length; at++) {
      const laneId = records[from]?.laneId ?? 0
      if (records[at]?.laneId === laneId) continue
      this.#options.observer.ended('succeeded', this.#transportOf(laneId), at - from)
      from = at
    }
  }

  #transportOf(laneId: number): string {
    return this.#options.lanes.get(laneId)?.transport ?? 'unknown'
  }

  /** Removes a delivery from memory; returns undefined if it was not there. */
  #takeOut(deliveryId: number): Delivery | undefined {
    const { careful, dispatcher } = this.#options
    const delivery = dispatcher.known.get(deliveryId)
    if (delivery === undefined) return undefined
    dispatcher.forget(delivery)
    careful.finished(delivery)
    return delivery
  }

  #finished(deliveryId: number, laneId: number, orderingKey: string | null): void {
    const { careful, dispatcher, lanes, reader } = this.#options
    reader.noteSettled(deliveryId)
    const isCounted = dispatcher.known.get(deliveryId)?.arrival !== 'ahead'
    const delivery = this.#takeOut(deliveryId)
    if (delivery !== undefined && !isCounted) delivery.arrival = 'gone'
    // Not the delivery's own lane: the shard may have been lost and taken again meanwhile.
    const lane = lanes.get(laneId)
    if (lane === undefined) return
    lane.count.ended(isCounted, lane.known)
    if (delivery !== undefined) careful.laneSettled(lane)
    const key = delivery?.orderingKey ?? orderingKey
    if (key === null) return
    lane.reading.freeKey(key)
    this.#options.requestRead(lane)
  }

  #scheduled(record: FailureRecord): void {
    const { careful, databaseClock, lanes, reader } = this.#options
    reader.noteSettled(record.id)
    const delivery = this.#takeOut(record.id)
    const lane = lanes.get(record.lane)
    if (delivery === undefined || lane === undefined) return
    careful.laneSettled(lane)
    // The retry time counts from the start of the transaction that wrote it, which is later than the attempt.
    const { clock } = this.#options
    const dueAtMs = databaseClock.nowMs() + (record.delayMs ?? 0)
    lane.reading.schedule.note(
      dueAtMs,
      dueAtMs - (clock.monotonicMs() - record.startedAtMs) - maxClockErrorMs,
    )
    // An older delivery of the key may have been committed late, and was skipped because this one was in flight.
    if (delivery.orderingKey !== null) lane.reading.freeKey(delivery.orderingKey)
    this.#options.requestRead(lane)
  }

  /** The lane has another owner, which decides. That may be this node again, under a new epoch. */
  #refused(record: FailureRecord): void {
    const delivery = this.#takeOut(record.id)
    const lane = this.#options.lanes.get(record.lane)
    if (delivery === undefined || lane === undefined) return
    lane.reading.rewindTo(delivery)
    this.#options.requestRead(lane)
  }
}
