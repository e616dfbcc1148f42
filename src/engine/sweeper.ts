import { bestEffort } from '../core/delivery/decide.ts'
import { giveUpThresholdMs } from '../core/delivery/give-up.ts'
import { idAtTime } from '../core/delivery/ids.ts'
import type { Database } from '../storage/database.ts'
import { recordRevival } from '../storage/read-lanes.ts'
import { readOverdue } from '../storage/read-overdue.ts'
import { settleFailures } from '../storage/settle.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { Clock, DatabaseClock } from './clock.ts'
import type { SettledFailure } from './delivery-settler.ts'
import type { Dispatcher } from './dispatcher.ts'
import { endingRecord } from './failure-record.ts'
import type { Lane } from './lane.ts'
import type { LaneTable } from './lane-table.ts'
import type { Logger } from './logger.ts'
import type { NodeObserver } from './observer.ts'
import type { Reader } from './reader.ts'

export interface SweeperOptions {
  readonly database: Database
  readonly lanes: LaneTable
  readonly dispatcher: Dispatcher
  readonly transports: TransportRegistry
  readonly clock: Clock
  readonly databaseClock: DatabaseClock
  readonly reader: Reader
  readonly logger: Logger
  readonly observer: Required<NodeObserver>
  readonly nodeName: string
  /** Runs between two steps of the work loop, while no read is in progress. */
  exclusively(task: () => Promise<void>): Promise<void>
  mayWork(): boolean
  incarnation(): number
  onFailuresSettled(settled: readonly SettledFailure[]): void
  /** When the loop will read the lane again, in database time. */
  nextWakeMs(lane: Lane): number
  /** Counts the lane again and reads it from the beginning. */
  recount(lane: Lane): void
}

/** A lane that was counted again and read from the beginning, though it had nothing left to read. */
interface Revival {
  /** The pending count at that time: while it is unchanged, the new read had no effect. */
  readonly pending: number
  readonly pauseSweeps: number
  sweepsLeft: number
}

const maxPauseSweeps = 16
const maxRowsPerLane = 500
const maxLanesPerSweep = 500

/**
 * Ends deliveries that expired or were pending for too long. A lane that sends checks each delivery before sending it. Lanes that can't send (open
 * circuit, hold, pause) or have a long line are searched here, so that an endless outage is noticed.
 */
export class Sweeper {
  readonly #options: SweeperOptions
  readonly #revivals = new WeakMap<Lane, Revival>()
  #lastLaneId = 0

  constructor(options: SweeperOptions) {
    this.#options = options
  }

  async sweep(): Promise<void> {
    await this.#reviveForgotten()
    for (const lane of this.#nextLanes()) {
      if (!this.#options.lanes.has(lane)) continue
      await this.#sweepLane(lane)
      this.#reviveLane(lane)
    }
  }

  /**
   * Every lane with rows to read is queued, or has a wake-up in time: every change of a lane requests a read in the same turn. A lane with neither
   * would wait for ever. This check finds such a lane, and counts it as a defect.
   */
  async #reviveForgotten(): Promise<void> {
    const { databaseClock, lanes, logger, observer, reader } = this.#options
    const forgotten: Lane[] = []
    await this.#options.exclusively(async () => {
      if (!this.#options.mayWork()) return
      const nowMs = databaseClock.nowMs()
      for (const lane of lanes.all())
        if (isForgotten(lane, reader, this.#options.nextWakeMs(lane), nowMs)) forgotten.push(lane)
    })
    for (const lane of forgotten) {
      logger.error(
        { endpoint: lane.name, owed: lane.owed },
        'Deliveries were due but were not read; the endpoint is read again. This is a defect in Holdfast: please report it',
      )
      observer.laneRevived(lane.name)
      this.#options.recount(lane)
      await recordRevival(this.#options.database, this.#options.nodeName, lane.name, lane.owed)
    }
  }

  /**
   * A lane that has pending deliveries, may send, and has nothing left to read has missed some or miscounted, which should not happen; or a dead
   * letter blocks its keys. In the last case reading everything finds nothing, and the next such read follows after twice as many sweeps.
   */
  #reviveLane(lane: Lane): void {
    const nowMs = this.#options.databaseClock.nowMs()
    if (lane.pending <= 0 || lane.known > 0 || isWaiting(lane, nowMs) || lane.gate(nowMs).kind !== 'open')
      return
    const last = this.#revivals.get(lane)
    const isInVain = last?.pending === lane.pending
    if (isInVain && last.sweepsLeft > 0) {
      last.sweepsLeft -= 1
      return
    }
    const pauseSweeps = isInVain ? Math.min(maxPauseSweeps, last.pauseSweeps * 2) : 1
    this.#revivals.set(lane, { pending: lane.pending, pauseSweeps, sweepsLeft: pauseSweeps })
    this.#options.recount(lane)
  }

  /** Lanes with more pending deliveries than they have in memory, a limited number at a time. Late commits may be pending without having been counted. */
  #nextLanes(): Lane[] {
    const nowMs = this.#options.databaseClock.nowMs()
    const waiting = [...this.#options.lanes.all()].filter(
      (lane) => lane.pending > lane.known || isWaiting(lane, nowMs),
    )
    const after = waiting.filter((lane) => lane.id > this.#lastLaneId)
    const lanes = [...after, ...waiting.filter((lane) => lane.id <= this.#lastLaneId)].slice(
      0,
      maxLanesPerSweep,
    )
    this.#lastLaneId = lanes.at(-1)?.id ?? 0
    return lanes
  }

  async #sweepLane(lane: Lane): Promise<void> {
    const { clock, database, databaseClock, dispatcher, transports } = this.#options
    const policy = lane.policy(transports)
    if (policy === null) return
    // A pause stops the give-up timer; the current pause is included.
    const giveUpBeforeMs = giveUpThresholdMs({
      nowMs: databaseClock.nowMs(),
      giveUpAfterMs: policy.settings.retry.giveUpAfterMs,
      pauses: policy.pauses,
    })
    const overdue = await readOverdue(
      database,
      { id: lane.id, giveUpBeforeMs, giveUpBeforeId: idAtTime(giveUpBeforeMs) },
      maxRowsPerLane,
    )
    const records = overdue
      .filter((row) => !dispatcher.known.has(row.id))
      .map((row) => {
        const ending = { ...row, rowMessageId: row.messageId, lane, attemptsMade: row.attempt }
        const gaveUp = row.criticality === bestEffort ? 'drop' : 'dead'
        return row.isExpired
          ? endingRecord(ending, 'expire', 'expired', clock.monotonicMs())
          : endingRecord(ending, gaveUp, 'gave_up', clock.monotonicMs())
      })
    if (records.length === 0) return
    // No circuit is affected, so any batch number will do: the number only guards circuits.
    const batch = { number: 0, nowMs: clock.monotonicMs() }
    const settled = await settleFailures(database, this.#options.incarnation(), records, [], batch)
    const refused = new Set(settled.refused)
    this.#options.onFailuresSettled(records.map((record) => ({ record, isRefused: refused.has(record.id) })))
  }
}

function isWaiting(lane: Lane, nowMs: number): boolean {
  return lane.reading.hasMore(nowMs) || lane.reading.schedule.nextDueAtMs !== Number.POSITIVE_INFINITY
}

function isForgotten(lane: Lane, reader: Reader, nextWakeMs: number, nowMs: number): boolean {
  if (reader.isQueued(lane) || nextWakeMs <= nowMs) return false
  if (reader.isWanted(lane, nowMs)) return true
  const { nextDueAtMs } = lane.reading.schedule
  return nextDueAtMs < nextWakeMs && reader.isWanted(lane, nextDueAtMs)
}
