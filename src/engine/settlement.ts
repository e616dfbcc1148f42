import type { FreedKey } from '../storage/notices.ts'
import type { FailureRecord, LaneTally, SuccessRecord } from '../storage/settle.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { CarefulMode } from './careful-mode.ts'
import { type Clock, type DatabaseClock, maxClockErrorMs } from './clock.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Lane } from './lane.ts'
import type { LaneTable } from './lane-table.ts'
import { logDeath } from './log-attempts.ts'
import type { Logger } from './logger.ts'
import type { NodeObserver } from './observer.ts'
import type { Reader } from './reader.ts'
import type { SettledFailure } from './settler.ts'

export interface SettlementOptions {
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
  /** Others may own whatever this node holds. */
  isFenced(): boolean
  /** Others own these lanes, or may: they must hear that the keys are free. */
  tellFreedKeys(freed: readonly FreedKey[]): void
}

const endings = {
  dead: 'dead',
  drop: 'dropped',
  expire: 'expired',
  cancel: 'cancelled',
  skip: 'skipped',
} as const

/** What follows once results are committed: memory lets go of them, keys become free, circuits are looked at again. */
export class Settlement {
  readonly #options: SettlementOptions

  constructor(options: SettlementOptions) {
    this.#options = options
  }

  /** What a lane's results mean for its circuit, ready to be recorded with the next flush. */
  takeTally(lane: Lane): LaneTally | null {
    const policy = lane.policy(this.#options.transports)
    if (policy === null) {
      // Nothing can be made of the news without the rules; kept, they would hold the lane shut after it has been mended.
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
    // Most tallies change nothing but a count, which its owner knows already.
    const asking = lanes.filter((lane) => changed.has(lane.id) || lane.isAwaitingVerdict)
    if (asking.length > 0) this.#options.refresh(asking)
  }

  /** Read again it would only fail again: this node leaves it alone until its result has been stored, which is tried now and then. */
  quarantined(record: SuccessRecord | FailureRecord): void {
    const { careful, dispatcher, lanes, reader } = this.#options
    const delivery = dispatcher.known.get(record.id)
    reader.shun(record.id, 'laneId' in record ? record.laneId : record.lane)
    if (delivery !== undefined) {
      dispatcher.forget(delivery)
      careful.finished(delivery)
    }
    const lane = lanes.get('laneId' in record ? record.laneId : record.lane)
    if (lane !== undefined && record.orderingKey !== null) {
      // An older one of its key may have come in late while this one was out, and found the key busy.
      lane.freedKeys.add(record.orderingKey)
      this.#options.requestRead(lane)
    }
    this.#options.dispatcher.pumpStarved()
  }

  /**
   * A success is a fact, whoever owns the lane by now. Its new owner may have tried the same delivery, failed, and put it off: to it the key
   * is taken until then, though the row is gone.
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

  /** A batch is mostly of one lane: said once for a run of them. */
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

  #finished(deliveryId: number, laneId: number, orderingKey: string | null): void {
    const { careful, dispatcher, lanes, reader } = this.#options
    reader.noteSettled(deliveryId)
    const delivery = dispatcher.known.get(deliveryId)
    const isCounted = delivery?.arrival !== 'ahead'
    if (delivery !== undefined) {
      dispatcher.forget(delivery)
      careful.finished(delivery)
      if (!isCounted) delivery.arrival = 'gone'
    }
    // Not the delivery's own: its shard may have been lost and taken back meanwhile.
    const lane = lanes.get(laneId)
    if (lane === undefined) return
    // What is still known is still owed, however it was counted when it came late.
    lane.pending = Math.max(lane.known - lane.ahead, isCounted ? lane.pending - 1 : lane.pending)
    if (delivery !== undefined) careful.laneSettled(lane)
    const key = delivery?.orderingKey ?? orderingKey
    if (key === null) return
    lane.freedKeys.add(key)
    this.#options.requestRead(lane)
  }

  #scheduled(record: FailureRecord): void {
    const { careful, databaseClock, dispatcher, lanes, reader } = this.#options
    reader.noteSettled(record.id)
    const delivery = dispatcher.known.get(record.id)
    if (delivery === undefined) return
    dispatcher.forget(delivery)
    careful.finished(delivery)
    const lane = lanes.get(record.lane)
    if (lane === undefined) return
    careful.laneSettled(lane)
    // Its time is counted from the beginning of the transaction that wrote it, which is later than that of the attempt.
    const { clock } = this.#options
    const dueAtMs = databaseClock.nowMs() + (record.delayMs ?? 0)
    lane.noteScheduled(dueAtMs, dueAtMs - (clock.monotonicMs() - record.startedAtMs) - maxClockErrorMs)
    // An older one of its key may have come in late while this one was out, and found the key busy.
    if (delivery.orderingKey !== null) lane.freedKeys.add(delivery.orderingKey)
    this.#options.requestRead(lane)
  }

  /** The lane wasn't ours any more: its new owner decides. That may be us again, under a new epoch. */
  #refused(record: FailureRecord): void {
    const { careful, dispatcher, lanes } = this.#options
    const delivery = dispatcher.known.get(record.id)
    if (delivery === undefined) return
    dispatcher.forget(delivery)
    careful.finished(delivery)
    const lane = lanes.get(record.lane)
    if (lane === undefined) return
    lane.rewindTo(delivery)
    this.#options.requestRead(lane)
  }
}
