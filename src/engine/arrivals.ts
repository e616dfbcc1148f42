import type { Database } from '../storage/database.ts'
import {
  type Arrivals as ArrivalsRead,
  readArrivals,
  readRange,
  readTopId,
} from '../storage/read-arrivals.ts'
import type { Clock } from './clock.ts'
import type { Lane } from './lane.ts'
import type { Stream } from './lane-reading.ts'
import type { LaneTable } from './lane-table.ts'
import { type IdRange, LateCommits } from './late-commits.ts'
import type { NodeLimits } from './limits.ts'
import type { Reader } from './reader.ts'

export interface ArrivalsOptions {
  readonly database: Database
  readonly lanes: LaneTable
  readonly reader: Reader
  readonly clock: Clock
  readonly limits: NodeLimits
  /** The shards that this node owns; null = all of them. */
  shards(): readonly number[] | null
  isOurs(laneId: number): boolean
  /** The cursor has advanced. */
  onPassed(cursor: number): void
  onArrived(lane: Lane): void
  /** The server was restarted, recovered from a crash, or was replaced: rows in memory may not exist, and settled ones may be pending again. */
  onNewLife(): void
}

/** Limits the share of time spent on reading ranges of late commits, so that another application's transactions can't keep the node busy with it. */
const rereadTimeShare = 0.1
/**
 * The longest pause between two such reads. If a read took seconds, a frozen process or a slow connection
 * delayed it, so its duration says nothing about its cost.
 */
const maxRereadPauseMs = 1000

/** One cursor over all lanes: finds lanes with new deliveries, and deliveries that became visible behind the cursor. */
export class Arrivals {
  readonly #options: ArrivalsOptions
  #late: LateCommits | null = null
  #life = ''
  #areAllRungFor = true
  #cursor = 0
  #reread: IdRange | null = null
  #rereadNotBeforeMs = 0
  #lastSnapshot: ArrivalsRead['snapshot'] | null = null

  constructor(options: ArrivalsOptions) {
    this.#options = options
  }

  /** The server start that the cursor belongs to. */
  get life(): string {
    return this.#life
  }

  /** False if publishers may use prepared transactions, which send no notification. */
  get areAllRungFor(): boolean {
    return this.#areAllRungFor
  }

  get cursor(): number {
    return this.#cursor
  }

  /** The snapshot of the last read: its oldest running transaction, and the next one to begin. */
  get lastSnapshot(): ArrivalsRead['snapshot'] | null {
    return this.#lastSnapshot
  }

  /** Places the cursor at the end: earlier deliveries are counted when their shards are taken. */
  async open(): Promise<void> {
    const { cursor, snapshot, life, allowsPrepared } = await readTopId(this.#options.database)
    this.#life = life
    this.#areAllRungFor = !allowsPrepared
    this.#cursor = cursor
    this.#late = new LateCommits(cursor, snapshot)
    this.#reread = null
  }

  /** Returns the number of deliveries that arrived. */
  async read(): Promise<number> {
    const { database, limits, reader } = this.#options
    if (this.#late === null) await this.open()
    let arrived = 0
    for (;;) {
      reader.beginStatement()
      const read = await readArrivals(database, this.#cursor, this.#options.shards(), limits.maxArrivalRows)
      if (read.life !== this.#life) return this.#reopen()
      // Loaded before the cursor moves: if this fails, the same arrivals are read again.
      const loaded = await this.#loadUnknown(read.groups)
      this.#lastSnapshot = read.snapshot
      const range = this.#late?.observe(read.snapshot, read.cursor) ?? null
      this.#cursor = read.cursor
      this.#options.onPassed(read.cursor)
      if (range !== null) this.#reread = joinRanges(this.#reread, range)
      arrived += this.#take(read, loaded)
      if (!read.isPartial) break
    }
    arrived += await this.#readAgain()
    return arrived
  }

  /** After a restart of the server, the cursor and the transactions that it has seen are invalid. */
  async #reopen(): Promise<number> {
    this.#late = null
    await this.open()
    this.#options.onPassed(this.#cursor)
    this.#options.onNewLife()
    return 0
  }

  get hasPendingReread(): boolean {
    return this.#reread !== null
  }

  /** Loads endpoints that were created after their shard was taken. Returns the lanes that were unknown. */
  async #loadUnknown(seen: readonly { readonly laneId: number }[]): Promise<ReadonlySet<number>> {
    const { lanes } = this.#options
    const unknown = new Set<number>()
    for (const { laneId } of seen) {
      if (lanes.get(laneId) === undefined && this.#options.isOurs(laneId)) unknown.add(laneId)
    }
    if (unknown.size > 0) await lanes.loadNew([...unknown])
    return unknown
  }

  /**
   * `loaded`: lanes that were loaded after this read. Their rows in it may have been cancelled since, during
   * a pause that has ended, so these lanes are read again.
   */
  #take(read: ArrivalsRead, loaded: ReadonlySet<number>): number {
    const { lanes, reader } = this.#options
    let arrived = 0
    for (const group of read.groups) {
      const lane = lanes.get(group.laneId)
      const stream = lane?.reading.streams[group.priority]
      if (lane === undefined || stream === undefined) continue
      arrived += group.total
      lane.count.arrived(group.total)
      if (group.ready > 0 && (loaded.has(lane.id) || !reader.takeWhole(lane, group, read.cursor)))
        stream.noteMore()
      if (group.firstDueAtMs !== null) lane.reading.schedule.note(group.firstDueAtMs)
      this.#options.onArrived(lane)
    }
    return arrived
  }

  /** Reads ids again that the cursor passed while their transaction was open. Paged, and limited to a share of the time. */
  async #readAgain(): Promise<number> {
    const { clock, database, limits, lanes, reader } = this.#options
    const range = this.#reread
    const startedAtMs = clock.monotonicMs()
    if (range === null || startedAtMs < this.#rereadNotBeforeMs) return 0
    reader.beginStatement()
    const rows = await readRange(database, range, this.#options.shards(), limits.maxArrivalRows)
    await this.#loadUnknown(rows)
    const last = rows.at(-1)
    const isPartial = rows.length >= limits.maxArrivalRows && last !== undefined
    this.#reread = isPartial ? { after: last.id, upTo: range.upTo } : null
    let found = 0
    const caughtUp = new Set<Stream>()
    for (const row of rows) {
      const lane = lanes.get(row.laneId)
      const stream = lane?.reading.streams[row.priority]
      if (lane === undefined || stream === undefined) continue
      if (row.dueAtMs !== null) {
        lane.reading.schedule.note(row.dueAtMs)
      } else if (row.id <= stream.cursor && reader.isNews(row.id)) {
        lane.reading.addStraggler(row.id)
        // A delivery with an ordering key may have been counted on arrival, and skipped because its key was in use.
        if (!row.isKeyed) lane.count.arrived(1)
        found += 1
      } else if (row.id > stream.cursor && reader.isNews(row.id)) {
        // The row is ahead of the lane's own cursor, although the cursor over all lanes has passed it: the lane's next read finds it.
        if (!stream.isBehind) caughtUp.add(stream)
        stream.noteMore()
        if (caughtUp.has(stream)) {
          lane.count.arrived(1)
          found += 1
        }
      } else {
        continue
      }
      this.#options.onArrived(lane)
    }
    const tookMs = clock.monotonicMs() - startedAtMs
    this.#rereadNotBeforeMs = clock.monotonicMs() + Math.min(tookMs / rereadTimeShare, maxRereadPauseMs)
    return found
  }
}

function joinRanges(first: IdRange | null, second: IdRange): IdRange {
  if (first === null) return second
  return { after: Math.min(first.after, second.after), upTo: Math.max(first.upTo, second.upTo) }
}
