import type { Database } from '../storage/database.ts'
import {
  type Arrivals as ArrivalsRead,
  readArrivals,
  readRange,
  readTopId,
} from '../storage/read-arrivals.ts'
import type { Clock } from './clock.ts'
import type { Lane, Stream } from './lane.ts'
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
  /** The cursor has moved on. */
  onPassed(cursor: number): void
  onArrived(lane: Lane): void
  /** The server was restarted, has recovered from a crash, or is another one: what is in memory may never have been, or may be owed once more. */
  onNewLife(): void
}

/** Reading late ranges again may take this share of the time, so that a busy foreign application can't keep us at it. */
const rereadTimeShare = 0.1
/** The longest pause between two of them. One that took seconds was held up, by a frozen process or a slow connection, and says nothing of its cost. */
const maxRereadPauseMs = 1000

/** One cursor over all lanes: learns who has something new, and what became visible behind the cursor. */
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

  /** Of the server that the cursor belongs to. */
  get life(): string {
    return this.#life
  }

  /** False where publishers may prepare their transactions, and so ring nobody. */
  get areAllRungFor(): boolean {
    return this.#areAllRungFor
  }

  get cursor(): number {
    return this.#cursor
  }

  /** The oldest transaction that was running at the last read, and the next one to begin. */
  get lastSnapshot(): ArrivalsRead['snapshot'] | null {
    return this.#lastSnapshot
  }

  /** Places the cursor at the end: what came before is summed up when shards are taken. */
  async open(): Promise<void> {
    const { cursor, snapshot, life, allowsPrepared } = await readTopId(this.#options.database)
    this.#life = life
    this.#areAllRungFor = !allowsPrepared
    this.#cursor = cursor
    this.#late = new LateCommits(cursor, snapshot)
    this.#reread = null
  }

  /** Returns how many deliveries came in. */
  async read(): Promise<number> {
    const { database, limits, reader } = this.#options
    if (this.#late === null) await this.open()
    let arrived = 0
    for (;;) {
      reader.beginStatement()
      const read = await readArrivals(database, this.#cursor, this.#options.shards(), limits.maxArrivalRows)
      if (read.life !== this.#life) return this.#reopen()
      // Before the cursor moves: when this fails, the same arrivals are read again.
      await this.#loadUnknown(read.groups)
      this.#lastSnapshot = read.snapshot
      const range = this.#late?.observe(read.snapshot, read.cursor) ?? null
      this.#cursor = read.cursor
      this.#options.onPassed(read.cursor)
      if (range !== null) this.#reread = joinRanges(this.#reread, range)
      arrived += this.#take(read)
      if (!read.isPartial) break
    }
    arrived += await this.#readAgain()
    return arrived
  }

  /** A cursor and the transactions that it has seen mean nothing in another life of the server. */
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

  /** Endpoints that were created after their shard was taken. */
  async #loadUnknown(seen: readonly { readonly laneId: number }[]): Promise<void> {
    const { lanes } = this.#options
    const unknown = new Set<number>()
    for (const { laneId } of seen) {
      if (lanes.get(laneId) === undefined && this.#options.isOurs(laneId)) unknown.add(laneId)
    }
    if (unknown.size > 0) await lanes.loadNew([...unknown])
  }

  #take(read: ArrivalsRead): number {
    const { lanes, reader } = this.#options
    let arrived = 0
    for (const group of read.groups) {
      const lane = lanes.get(group.laneId)
      const stream = lane?.streams[group.priority]
      if (lane === undefined || stream === undefined) continue
      arrived += group.total
      lane.pending += group.total
      if (group.ready > 0 && !reader.takeWhole(lane, group, read.cursor)) stream.isBehind = true
      if (group.firstDueAtMs !== null) lane.noteScheduled(group.firstDueAtMs)
      this.#options.onArrived(lane)
    }
    return arrived
  }

  /** Looks once more at ids that were passed while their transaction was open. Paged, and bounded in its share of time. */
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
      const stream = lane?.streams[row.priority]
      if (lane === undefined || stream === undefined) continue
      if (row.dueAtMs !== null) {
        lane.noteScheduled(row.dueAtMs)
      } else if (row.id <= stream.cursor && reader.isNews(row.id)) {
        lane.stragglers.push(row.id)
        // One with a key may have been counted when it came, and passed over because it wasn't its key's turn.
        if (!row.isKeyed) lane.pending += 1
        found += 1
      } else if (row.id > stream.cursor && reader.isNews(row.id)) {
        // Ahead in this line, whatever the cursor over all lanes says: reading on finds it.
        if (!stream.isBehind) caughtUp.add(stream)
        stream.isBehind = true
        if (caughtUp.has(stream)) {
          lane.pending += 1
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
