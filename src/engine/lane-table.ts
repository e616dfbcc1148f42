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
  /** The epoch under which this node holds the shard, or undefined when it doesn't. */
  epochOf(shard: number): number | undefined
  /** The shard is being handed over: nothing may start on it. */
  isLeaving(shard: number): boolean
  /** Up to where arrivals have been counted. */
  cursor(): number
  /** The setting `rejecting_threshold`. */
  readonly rejectingThreshold: () => number
  /** A lane's row, circuit or place in the line has changed. */
  onChanged(lane: Lane): void
  onCircuitChanged(lane: Lane): void
  /** Channels whose endpoint has other settings now; they finish what is out. */
  onReplaced(channel: TransportChannel): void
}

/** The lanes that this node owns. */
export class LaneTable {
  readonly #options: LaneTableOptions
  readonly #lanes = new Map<number, Lane>()
  readonly readAhead: ReadAhead = { rows: 0, bytes: 0 }
  #watermark = nothingRead
  #lastRead: Promise<unknown> = Promise.resolve()

  constructor(options: LaneTableOptions) {
    this.#options = options
  }

  get size(): number {
    return this.#lanes.size
  }

  /** Up to where changes have been read. */
  get watermark(): string {
    return this.#watermark
  }

  get(laneId: number): Lane | undefined {
    return this.#lanes.get(laneId)
  }

  /** False for a lane that this node has lost, or lost and got back. */
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

  /** Loads the lanes of shards that were just taken, with what is owed on them up to the arrivals cursor. */
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
      const stream = lane?.streams[priority]
      if (lane === undefined || stream === undefined) continue
      lane.pending += total
      stream.isBehind = true
      if (firstDueAtMs !== null) lane.noteScheduled(firstDueAtMs)
    }
    return loaded
  }

  /** An endpoint that was created after its shard was taken: nothing is owed to it but what arrives now. */
  async loadNew(laneIds: readonly number[]): Promise<void> {
    const rows = await readLanesById(this.#options.database, laneIds)
    for (const row of rows) this.#add(row)
    const found = new Set(rows.map((row) => row.id))
    await this.#cancelOrphans(laneIds.filter((laneId) => !found.has(laneId)))
  }

  /** A publish that committed after its endpoint was deleted: nobody would ever look at it again. */
  async #cancelOrphans(laneIds: readonly number[]): Promise<void> {
    if (laneIds.length > 0) await cancelOrphans(this.#options.database, laneIds)
  }

  /** Reads these lanes again, e.g. after their results may have opened a circuit. */
  async refresh(laneIds: readonly number[]): Promise<void> {
    await this.#inTurn(async (readAtMs) => {
      const rows = await readLanesById(this.#options.database, laneIds)
      const found = new Set(rows.map((row) => row.id))
      for (const row of rows) this.#update(row, readAtMs)
      for (const laneId of laneIds) if (!found.has(laneId)) this.#remove(laneId)
    })
  }

  /** Somebody changed the lane's endpoint: nothing starts until it has been read by a read that begins after this. */
  noteChanged(lane: Lane): void {
    lane.isAwaitingVerdict = true
    lane.changedAtMs = this.#options.clock.monotonicMs()
  }

  /** Picks up what others changed: settings, pauses, circuits moved by synchronous requests. */
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

  /** One read at a time: of two at once the older picture could be the last to arrive, and stay. */
  #inTurn(read: (readAtMs: number) => Promise<void>): Promise<void> {
    const turn = this.#lastRead.then(() => read(this.#options.clock.monotonicMs()))
    this.#lastRead = turn.catch(() => {})
    return turn
  }

  /** Starts a lane from the front: deliveries were ended behind its back. Call it while nothing is read. */
  restart(lane: Lane): void {
    if (!this.has(lane)) return
    lane.rewindAll()
    this.#options.onChanged(lane)
  }

  /** Counts a lane anew, in pieces, while it goes on: what arrives beyond the cursor, and what is settled, changes its count meanwhile and is kept. */
  async recount(lane: Lane): Promise<void> {
    const upTo = this.#options.cursor()
    const before = lane.pending
    const total = await countLane(this.#options.database, lane.id, upTo)
    lane.pending = Math.max(0, total + lane.pending - before)
  }

  /** The same for all lanes of these shards, in one statement. */
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
      for (const lane of this.#lanes.values()) lane.pending = pending.get(lane.id) ?? 0
    } finally {
      for (const lane of this.#lanes.values()) {
        lane.rewindAll()
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

  /** What changed since the last report. */
  takeReports(): LaneReport[] {
    const reports: LaneReport[] = []
    for (const lane of this.#lanes.values()) {
      const { owed, inFlight } = lane
      if (lane.reportedOwed === owed && lane.reportedInFlight === inFlight) continue
      lane.reportedOwed = owed
      lane.reportedInFlight = inFlight
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
    const replaced = lane.update(row)
    if (lane.breaker.state !== circuitBefore) this.#options.onCircuitChanged(lane)
    // What came in or was committed since then has its own verdict to come.
    if (lane.health.isDecidedAt(readAtMs) && lane.changedAtMs <= readAtMs) lane.isAwaitingVerdict = false
    if (replaced !== null) this.#options.onReplaced(replaced)
    this.#options.onChanged(lane)
  }

  /** Its endpoint was deleted, and what it owes is being cancelled. A request that is out may have been accepted already: its answer is waited for. */
  #remove(laneId: number): void {
    const lane = this.#lanes.get(laneId)
    if (lane === undefined) return
    lane.isDraining = true
    this.#options.onChanged(lane)
    this.#lanes.delete(laneId)
    void lane.retire().catch(() => {})
  }
}
