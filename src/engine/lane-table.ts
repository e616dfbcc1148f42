import { shardOfLane } from '../core/rendezvous.ts'
import type { Database } from '../storage/database.ts'
import { cancelOrphans } from '../storage/endpoints.ts'
import {
  countLane,
  type LaneReport,
  type LaneRow,
  readChangedLanes,
  readLanesById,
  readLanesOfShards,
  summariseStreams,
} from '../storage/read-lanes.ts'
import { nothingRead } from '../storage/watermark.ts'
import type { TransportChannel } from '../transports/transport.ts'
import type { Clock } from './clock.ts'
import { Lane } from './lane.ts'
import type { ReadAhead } from './ready-line.ts'

export interface LaneTableOptions {
  readonly database: Database
  readonly clock: Clock
  /** The epoch under which this node owns the shard, or undefined if it doesn't. */
  epochOf(shard: number): number | undefined
  /** The shard is being released to another node: nothing may start on it. */
  isLeaving(shard: number): boolean
  /** The position up to which arrivals have been counted. */
  cursor(): number
  /** The setting `rejecting_threshold`. */
  readonly rejectingThreshold: () => number
  /** A lane's row, circuit or deliveries in memory have changed. */
  onChanged(lane: Lane): void
  /** The endpoint accepts deliveries again. A read in progress may contain deliveries that were cancelled meanwhile. */
  onResumed(lane: Lane): void
  onCircuitChanged(lane: Lane): void
  /** The channel's endpoint has new settings; the channel finishes its requests in flight. */
  onReplaced(channel: TransportChannel): void
}

const nothingOwed = { owed: 0, inFlight: 0 }

/** The lanes that this node owns. */
export class LaneTable {
  readonly #options: LaneTableOptions
  readonly #lanes = new Map<number, Lane>()
  readonly readAhead: ReadAhead = { rows: 0, bytes: 0 }
  /** When the endpoint was changed (monotonic): a row read before that time doesn't show the change. */
  readonly #changedAtMs = new WeakMap<Lane, number>()
  readonly #reported = new WeakMap<Lane, { readonly owed: number; readonly inFlight: number }>()
  #watermark = nothingRead
  #lastRead: Promise<unknown> = Promise.resolve()

  constructor(options: LaneTableOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#lanes.size
  }

  /** The position up to which changes have been read. */
  get watermark(): string {
    return this.#watermark
  }

  get(laneId: number): Lane | undefined {
    return this.#lanes.get(laneId)
  }

  /** False for a lane that this node has lost, also if it has taken it again. */
  has(lane: Lane): boolean {
    return this.#lanes.get(lane.id) === lane
  }

  all(): IterableIterator<Lane> {
    return this.#lanes.values()
  }

  ofShard(shard: number): Lane[] {
    return [...this.#lanes.values()].filter((lane) => lane.shard === shard)
  }

  get owed(): number {
    let owed = 0
    for (const lane of this.#lanes.values()) owed += lane.owed
    return owed
  }

  /** Loads the lanes of shards that were just taken, with the number of pending deliveries up to the arrivals cursor. */
  async load(shards: readonly number[], cursor: number): Promise<Lane[]> {
    const { database } = this.#options
    const rows = await readLanesOfShards(database, shards)
    const summaries = await summariseStreams(database, shards.length === 256 ? null : shards, cursor)
    const loaded = rows.map((row) => this.#add(row)).filter((lane) => lane !== undefined)
    await this.#cancelOrphans([
      ...new Set(summaries.map(({ laneId }) => laneId).filter((laneId) => !this.#lanes.has(laneId))),
    ])
    for (const { laneId, total, priority, firstDueAtMs } of summaries) {
      const lane = this.#lanes.get(laneId)
      const stream = lane?.reading.streams[priority]
      if (lane === undefined || stream === undefined) continue
      lane.count.arrived(total)
      stream.noteMore()
      if (firstDueAtMs !== null) lane.reading.schedule.note(firstDueAtMs)
    }
    return loaded
  }

  /** Loads endpoints that were created after their shard was taken: they have no deliveries except those that arrive now. */
  async loadNew(laneIds: readonly number[]): Promise<void> {
    const rows = await readLanesById(this.#options.database, laneIds)
    for (const row of rows) this.#add(row)
    const found = new Set(rows.map((row) => row.id))
    await this.#cancelOrphans(laneIds.filter((laneId) => !found.has(laneId)))
  }

  /**
   * Cancels deliveries that were committed after their endpoint had been deleted, which the deletion did not see. Without this, they would stay
   * pending for ever. When it fails, the caller has to try again.
   */
  async #cancelOrphans(laneIds: readonly number[]): Promise<void> {
    if (laneIds.length > 0) await cancelOrphans(this.#options.database, laneIds)
  }

  /** Reads these lanes again, e.g. after their results may have opened a circuit. */
  async refresh(laneIds: readonly number[]): Promise<void> {
    await this.#inTurn(async (readAtMs) => {
      const rows = await readLanesById(this.#options.database, laneIds)
      const found = new Set(rows.map((row) => row.id))
      for (const row of rows) this.#update(row, readAtMs)
      const deleted = laneIds.filter((laneId) => !found.has(laneId))
      for (const laneId of deleted) this.#remove(laneId)
      // After the lanes are removed: what arrives from now on is unknown, and cancelled on arrival.
      await this.#cancelOrphans(deleted)
    })
  }

  /** The lane's endpoint was changed: nothing starts until a read that begins after this has returned. */
  noteChanged(lane: Lane): void {
    lane.isAwaitingVerdict = true
    this.#changedAtMs.set(lane, this.#options.clock.monotonicMs())
  }

  /** Applies changes made by other processes: settings, pauses, circuits changed by synchronous requests. */
  async readChanges(): Promise<void> {
    await this.#inTurn(async (readAtMs) => {
      const { rows, watermark } = await readChangedLanes(this.#options.database, this.#watermark)
      this.#watermark = watermark
      for (const row of rows) {
        if (this.#lanes.has(row.id)) this.#update(row, readAtMs)
        else this.#add(row)
      }
    })
  }

  /** Only one read at a time: of two concurrent reads, the older result could arrive last and overwrite the newer one. */
  #inTurn(read: (readAtMs: number) => Promise<void>): Promise<void> {
    const turn = this.#lastRead.then(() => read(this.#options.clock.monotonicMs()))
    this.#lastRead = turn.catch(() => {})
    return turn
  }

  /** Reads a lane from the beginning, because other processes have ended some of its deliveries. Call it while no read is in progress. */
  restart(lane: Lane): void {
    if (!this.has(lane)) return
    lane.reading.rewindAll()
    this.#options.onChanged(lane)
  }

  /** Counts a lane again, in parts, while the lane works: arrivals after the cursor and settled deliveries meanwhile are included. */
  async recount(lane: Lane): Promise<void> {
    const upTo = this.#options.cursor()
    const before = lane.pending
    const total = await countLane(this.#options.database, lane.id, upTo)
    lane.count.recount(total, before)
  }

  /** Counts all lanes of these shards again, in one statement. */
  async recountAll(shards: readonly number[]): Promise<void> {
    try {
      const pending = new Map<number, number>()
      for (const { laneId, total } of await summariseStreams(
        this.#options.database,
        shards,
        this.#options.cursor(),
      )) {
        pending.set(laneId, (pending.get(laneId) ?? 0) + total)
      }
      for (const lane of this.#lanes.values()) lane.count.reset(pending.get(lane.id) ?? 0)
    } finally {
      for (const lane of this.#lanes.values()) {
        lane.reading.rewindAll()
        this.#options.onChanged(lane)
      }
    }
  }

  drop(shards: ReadonlySet<number>): Lane[] {
    const dropped = [...this.#lanes.values()].filter((lane) => shards.has(lane.shard))
    for (const lane of dropped) {
      lane.isDraining = true
      this.#lanes.delete(lane.id)
    }
    return dropped
  }

  /** Returns the lanes whose numbers changed since the last report. */
  takeReports(): LaneReport[] {
    const reports: LaneReport[] = []
    for (const lane of this.#lanes.values()) {
      const { owed, inFlight } = lane
      const last = this.#reported.get(lane) ?? nothingOwed
      if (last.owed === owed && last.inFlight === inFlight) continue
      this.#reported.set(lane, { owed, inFlight })
      reports.push({ laneId: lane.id, pending: owed, inFlight })
    }
    return reports
  }

  #add(row: LaneRow): Lane | undefined {
    const shard = shardOfLane(row.id)
    const epoch = this.#options.epochOf(shard)
    if (epoch === undefined) return undefined
    const known = this.#lanes.get(row.id)
    if (known !== undefined) return known
    const lane = new Lane(row, epoch, this.readAhead, this.#options.rejectingThreshold)
    lane.isDraining = this.#options.isLeaving(shard)
    this.#lanes.set(row.id, lane)
    return lane
  }

  #update(row: LaneRow, readAtMs: number): void {
    const lane = this.#lanes.get(row.id)
    if (lane === undefined) return
    const circuitBefore = lane.breaker.state
    const isResumed = row.state === 'active' && !lane.isActive
    const replaced = lane.update(row)
    if (isResumed) this.#options.onResumed(lane)
    if (lane.breaker.state !== circuitBefore) this.#options.onCircuitChanged(lane)
    // Results that arrived or were committed since then are evaluated by a later read.
    const changedAtMs = this.#changedAtMs.get(lane) ?? Number.NEGATIVE_INFINITY
    if (lane.health.isDecidedAt(readAtMs) && changedAtMs <= readAtMs) lane.isAwaitingVerdict = false
    if (replaced !== null) this.#options.onReplaced(replaced)
    this.#options.onChanged(lane)
  }

  /**
   * The endpoint was deleted, and its pending deliveries are being cancelled. A receiver may have accepted
   * a request in flight already, so the answer is awaited.
   */
  #remove(laneId: number): void {
    const lane = this.#lanes.get(laneId)
    if (lane === undefined) return
    lane.isDraining = true
    this.#options.onChanged(lane)
    this.#lanes.delete(laneId)
    void lane.retire().catch(() => {})
  }
}
