import type { Database } from '../storage/database.ts'
import type { ArrivalGroup } from '../storage/read-arrivals.ts'
import {
  type DeliveryRow,
  isHeadOf,
  laneIdOf,
  messageIdOf,
  orderingKeyOf,
  parkBehindKey,
  priorityOf,
  readByIds,
  readDue,
  readKeyHeads,
  readNextDue,
  readStreams,
  routeIdOf,
  type StreamRequest,
  sizeOf,
} from '../storage/read-deliveries.ts'
import { readMessages } from '../storage/read-messages.ts'
import type { Clock, DatabaseClock } from './clock.ts'
import type { Dispatcher } from './dispatcher.ts'
import type { Lane } from './lane.ts'
import type { LaneTable } from './lane-table.ts'
import type { NodeLimits } from './limits.ts'
import type { ShapeTable } from './shape-table.ts'

export interface ReaderOptions {
  readonly database: Database
  readonly lanes: LaneTable
  readonly dispatcher: Dispatcher
  readonly clock: Clock
  readonly databaseClock: DatabaseClock
  readonly limits: NodeLimits
  readonly shapes: ShapeTable
  /** Everything up to here has been seen under a snapshot; reading beyond it could step over a late commit. */
  cursor(): number
}

const minReadAhead = 32
const maxReadAhead = 2000
const maxProbeReadAhead = 512
/** How much of a lane's pace is kept at hand: several round trips to a busy database. */
const readAheadMs = 50
const maxStragglersPerRead = 1000
/** Long enough for a slow but living receiver to show a start. */
const reclaimIntervalMs = 250
const crowdedScheduleMs = 50
const minShareRows = 16
const minShareBytes = 256 * 1024

/** Reads the lanes that asked for more: a few statements for all of them, whatever their number. */
export class Reader {
  readonly #options: ReaderOptions
  #queue: Lane[] = []
  #nextReclaimAtMs = 0
  #lastShareRows = maxReadAhead
  /** Settled since the read under way was sent: its snapshot may still show them. */
  readonly #settledSinceRead = new Set<number>()
  /** By delivery: its lane. */
  readonly #shunned = new Map<number, number>()

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  get hasWork(): boolean {
    return this.#queue.length > 0
  }

  /** Queues the lane if there is something to read, room for it, and leave to send it. */
  request(lane: Lane, nowMs: number): boolean {
    if (lane.isReadQueued) return false
    if (!this.isWanted(lane, nowMs)) return false
    lane.isReadQueued = true
    this.#queue.push(lane)
    return true
  }

  /** The lane may send, has something to read that was due at this time, and room for it. */
  isWanted(lane: Lane, nowMs: number): boolean {
    return this.#isRunningLow(lane) && lane.hasMore(nowMs) && lane.gate(nowMs).kind !== 'shut'
  }

  /** Asks the same as `#room`, by the last share: a lane that is queued without room would be queued again at once, for ever. */
  #isRunningLow(lane: Lane): boolean {
    if (lane.breaker.state !== 'closed') return lane.ready.length === 0
    return lane.ready.length <= Math.min(lane.readAhead, rowsByRate(lane), this.#lastShareRows) >> 1
  }

  /** This delivery's result can't be stored; reading it again would only send it again. */
  shun(deliveryId: number, laneId: number): void {
    this.#shunned.set(deliveryId, laneId)
  }

  /** Results of this lane may be stored now. */
  readmit(laneId: number): void {
    for (const [deliveryId, itsLaneId] of this.#shunned)
      if (itsLaneId === laneId) this.#shunned.delete(deliveryId)
  }

  /** Another life of the server may store what the last one refused. */
  readmitAll(): void {
    this.#shunned.clear()
  }

  noteSettled(deliveryId: number): void {
    this.#settledSinceRead.add(deliveryId)
  }

  /** Whether a row that a read just returned is news. */
  isNews(deliveryId: number): boolean {
    return (
      !this.#options.dispatcher.known.has(deliveryId) &&
      !this.#settledSinceRead.has(deliveryId) &&
      !this.#shunned.has(deliveryId)
    )
  }

  /** Call right before a statement is sent: what has been settled by now is invisible to it. */
  beginStatement(): void {
    this.#settledSinceRead.clear()
  }

  /**
   * Takes arrivals that came whole into a lane that has read everything before them, instead of reading them again: an idle lane's
   * delivery starts after one round trip. False when the lane must read for itself.
   */
  takeWhole(lane: Lane, group: ArrivalGroup, cursor: number): boolean {
    const stream = lane.streams[group.priority]
    if (stream === undefined || group.whole.length !== group.ready || !this.isCaughtUp(lane, group.priority))
      return false
    // What must be checked first needs its schema at hand.
    if (group.whole.some(([, , , rest]) => rest[3])) return false
    for (const [row, body, createdAtMs, rest] of group.whole) {
      if (this.isNews(row[0])) this.#options.dispatcher.admit(lane, row, { body, createdAtMs, rest })
    }
    stream.cursor = Math.max(stream.cursor, cursor)
    return true
  }

  /** Nothing waits in it, read or unread, it has a free slot, and there is room for what is read ahead. */
  isCaughtUp(lane: Lane, priority: number): boolean {
    const { databaseClock, lanes, limits } = this.#options
    const { rows, bytes } = lanes.readAhead
    return (
      lane.streams[priority]?.isBehind === false &&
      lane.ready.length === 0 &&
      lane.inFlight < lane.concurrency &&
      rows < limits.maxReadAheadRows &&
      bytes < limits.maxReadAheadBytes &&
      lane.gate(databaseClock.nowMs()).kind === 'open'
    )
  }

  async readQueued(): Promise<void> {
    const { limits, dispatcher, lanes: table } = this.#options
    const lanes = this.#queue.splice(0, limits.maxLanesPerRead)
    for (const lane of lanes) lane.isReadQueued = false
    const nowMs = this.#options.databaseClock.nowMs()
    const reading = lanes.filter((lane) => table.has(lane) && lane.gate(nowMs).kind !== 'shut')
    if (reading.length === 0) return
    this.#reclaim()
    try {
      // The next probe is another delivery: fresh ones come before those that failed, the last probe among them.
      const probing = reading.filter((lane) => lane.breaker.state !== 'closed')
      if (probing.length > 0) await this.#readStreams(probing)
      await this.#readStragglers(reading)
      await this.#readFreedKeys(reading)
      await this.#readDue(reading, nowMs)
      await this.#readStreams(reading)
    } catch (error) {
      // Whatever these lanes had noted to be read is noted no more: they start from the beginning.
      for (const lane of reading) lane.rewindAll()
      throw error
    } finally {
      for (const lane of reading) dispatcher.pump(lane)
    }
  }

  /** How many more deliveries of at least this priority the lane can take. */
  #room(lane: Lane, priority: number, share: number): number {
    if (lane.breaker.state !== 'closed')
      return lane.ready.length === 0 ? Math.min(lane.probeReadAhead, share) : 0
    return Math.min(lane.readAhead, rowsByRate(lane), share) - lane.ready.countFrom(priority)
  }

  /** What each of these lanes may read, so that all lines together stay within their bounds; a little is always granted. */
  #share(lanes: readonly Lane[]): { rows: number; bytes: number } {
    const { maxReadAheadRows, maxReadAheadBytes } = this.#options.limits
    const held = this.#options.lanes.readAhead
    this.#lastShareRows = Math.max(minShareRows, Math.floor((maxReadAheadRows - held.rows) / lanes.length))
    return {
      rows: this.#lastShareRows,
      bytes: Math.max(minShareBytes, Math.floor((maxReadAheadBytes - held.bytes) / lanes.length)),
    }
  }

  /** Lines that can't move (every slot is taken) give back what they hold when it is scarce: a stuck receiver starves nobody. */
  #reclaim(): void {
    const { clock, dispatcher, lanes, limits } = this.#options
    const { rows, bytes } = lanes.readAhead
    if (rows < limits.maxReadAheadRows / 2 && bytes < limits.maxReadAheadBytes / 2) return
    const nowMs = clock.monotonicMs()
    if (nowMs < this.#nextReclaimAtMs) return
    this.#nextReclaimAtMs = nowMs + reclaimIntervalMs
    for (const lane of lanes.all()) {
      const isStuck = lane.inFlight >= lane.concurrency && lane.startsSinceReclaim === 0
      if (isStuck && lane.ready.length > 0) dispatcher.unread(lane)
      lane.startsSinceReclaim = 0
    }
  }

  async #readStreams(lanes: readonly Lane[]): Promise<void> {
    const share = this.#share(lanes)
    const nowMs = this.#options.databaseClock.nowMs()
    const requests: (StreamRequest & { readonly lane: Lane; readonly rewinds: number })[] = []
    for (const lane of lanes) {
      this.#tuneReadAhead(lane, nowMs)
      for (let priority = 3; priority >= 0; priority--) {
        const stream = lane.streams[priority]
        if (stream === undefined || !stream.isBehind) continue
        const maxRows = this.#room(lane, priority, share.rows)
        if (maxRows > 0) {
          const { cursor: after, rewinds } = stream
          requests.push({ lane, laneId: lane.id, priority, after, maxRows, rewinds })
        }
      }
    }
    if (requests.length === 0) return
    const upTo = this.#options.cursor()
    this.beginStatement()
    const answers = await readStreams(this.#options.database, requests, upTo)
    const cuts = answers.map((rows) => cutByBytes(rows, share.bytes))
    this.#tuneProbeReads(requests, await this.#admit(cuts.flatMap(({ taken }) => taken)))
    for (const [index, { lane, priority, after, maxRows, rewinds }] of requests.entries()) {
      const stream = lane.streams[priority]
      const { taken, isCut: isCutByBytes } = cuts[index] ?? nothing
      if (stream === undefined) continue
      const isCut = taken.length >= maxRows || isCutByBytes
      // The cursor may have been moved back meanwhile, by a delivery that was put back: then that counts.
      if (stream.rewinds === rewinds) {
        stream.cursor = isCut ? (taken.at(-1)?.[0] ?? after) : Math.max(after, upTo)
        stream.isBehind = isCut || upTo < this.#options.cursor()
      }
    }
  }

  /** Reads as far ahead as the lane gets through in a moment, by its pace since the last read. */
  #tuneReadAhead(lane: Lane, nowMs: number): void {
    const pace = lane.startsSinceRead / Math.max(1, nowMs - lane.lastReadAtMs)
    lane.startsSinceRead = 0
    lane.lastReadAtMs = nowMs
    const floor = Math.max(minReadAhead, lane.minReadAhead)
    lane.readAhead = Math.min(
      maxReadAhead,
      Math.max(floor, lane.readAhead >> 1, Math.ceil(pace * readAheadMs)),
    )
  }

  /** A probe needs one delivery, but what waits behind an ordering key is none: a long line of that isn't searched row by row. */
  #tuneProbeReads(requests: readonly { readonly lane: Lane }[], admitted: ReadonlySet<Lane>): void {
    for (const { lane } of requests) {
      if (lane.breaker.state === 'closed') continue
      lane.probeReadAhead = admitted.has(lane) ? 1 : Math.min(maxProbeReadAhead, lane.probeReadAhead * 2)
    }
  }

  async #readDue(lanes: readonly Lane[], nowMs: number): Promise<void> {
    const due = lanes.filter((lane) => lane.nextDueAtMs <= nowMs)
    if (due.length === 0) return
    const share = this.#share(due)
    const requests = due
      // What is out keeps its place in the schedule until it is settled, so it is read along and passed over.
      .map((lane) => ({ lane, room: this.#room(lane, 0, share.rows), known: lane.knownScheduled }))
      .filter(({ room }) => room > 0)
      .map(({ lane, room, known }) => ({
        lane,
        laneId: lane.id,
        room,
        maxRows: room + known,
        fromMs: this.#startOfDue(lane, nowMs),
      }))
    if (requests.length === 0) return
    // What is scheduled while the read is under way must not be lost to its answer.
    for (const { lane } of requests) {
      lane.nextDueAtMs = Number.POSITIVE_INFINITY
      lane.dueFloorMs = Number.POSITIVE_INFINITY
    }
    // Asked before what is due is read: whatever falls due between the two is in one answer or in both.
    const next = await readNextDue(
      this.#options.database,
      requests.map(({ laneId }) => laneId),
    )
    const nextByLane = new Map(next)
    for (const { lane } of requests) lane.lookForDueAt(nextByLane.get(lane.id) ?? Number.POSITIVE_INFINITY)
    this.beginStatement()
    const { rows: answers, upToMs } = await readDue(this.#options.database, requests)
    // What is out takes no room: only news count.
    const cuts = answers.map((due, index) => {
      const fresh = due.filter((row) => isHeadOf(row) && this.isNews(row[0]))
      const { taken } = cutByBytes(fresh.slice(0, requests[index]?.room), share.bytes)
      return { total: due.length, taken, firstLeft: fresh[taken.length] }
    })
    const admitted = await this.#admit(cuts.flatMap(({ taken }) => taken.toSorted(byUrgency)))
    this.#tuneProbeReads(requests, admitted)
    for (const [index, { lane, maxRows, fromMs }] of requests.entries()) {
      const { total = 0, firstLeft } = cuts[index] ?? {}
      const hasMore = total >= maxRows || firstLeft !== undefined
      // With nothing new in it, the read was filled up by what is out: asking again at once would get the same.
      if (hasMore) lane.lookForDueAt(admitted.has(lane) ? 0 : nowMs + crowdedScheduleMs)
      const nextRow = firstLeft ?? answers[index]?.at(-1)
      lane.readDueFrom(hasMore ? (nextRow?.[9] ?? fromMs) : upToMs)
      if (fromMs === Number.NEGATIVE_INFINITY) lane.scheduleReadAtMs = nowMs
      else lane.lookForDueAt(lane.scheduleReadAtMs + this.#options.limits.sweepMs)
    }
    const behindKey = answers.flat().filter((row) => !isHeadOf(row))
    if (behindKey.length === 0) return
    await parkBehindKey(
      this.#options.database,
      behindKey.map((row) => row[0]),
    )
    // Whatever stands before them may have been passed over too, while its key was busy.
    for (const row of behindKey) {
      const key = orderingKeyOf(row)
      if (key !== null) this.#options.lanes.get(laneIdOf(row))?.freedKeys.add(key)
    }
  }

  /** Past what is known to have been read. From the very beginning now and then, for what nobody told us of. */
  #startOfDue(lane: Lane, nowMs: number): number {
    const isSweepDue = nowMs >= lane.scheduleReadAtMs + this.#options.limits.sweepMs
    return isSweepDue ? Number.NEGATIVE_INFINITY : lane.dueFloorMs
  }

  /**
   * Takes what is news into its lane's line, with its body, and with the transform or schema at hand that it will be rendered with.
   * Returns the lanes that got something.
   */
  async #admit(rows: readonly DeliveryRow[]): Promise<Set<Lane>> {
    const { database, dispatcher, lanes, shapes } = this.#options
    const admitted = new Set<Lane>()
    const news = rows.filter((row) => isHeadOf(row) && this.isNews(row[0]))
    if (news.length === 0) return admitted
    const routeIds = new Set<number>()
    for (const row of news) {
      const routeId = routeIdOf(row)
      if (routeId !== null) routeIds.add(routeId)
    }
    const messages = await readMessages(database, news.map(messageIdOf), routeIds.size > 0)
    const eventTypes = new Set<string>()
    for (const { rest } of messages.values()) {
      const type = rest?.[0] ?? null
      if (type !== null && rest?.[3] === true) eventTypes.add(type)
    }
    if (routeIds.size > 0 || eventTypes.size > 0) await shapes.load(routeIds, eventTypes)
    for (const row of news) {
      const lane = lanes.get(laneIdOf(row))
      if (lane === undefined || !this.isNews(row[0])) continue
      if (dispatcher.admit(lane, row, messages.get(messageIdOf(row)) ?? null) !== null) admitted.add(lane)
    }
    return admitted
  }

  async #readStragglers(lanes: readonly Lane[]): Promise<void> {
    const ids: number[] = []
    for (const lane of lanes) {
      ids.push(...lane.stragglers.splice(0, maxStragglersPerRead - ids.length))
      if (ids.length >= maxStragglersPerRead) break
    }
    if (ids.length === 0) return
    this.beginStatement()
    const rows = await readByIds(this.#options.database, ids)
    await this.#admitSome(lanes, rows, (lane, row) => lane.stragglers.push(row[0]))
  }

  async #readFreedKeys(lanes: readonly Lane[]): Promise<void> {
    const keys: { laneId: number; key: string }[] = []
    for (const lane of lanes) {
      for (const key of lane.freedKeys) {
        if (keys.length >= maxStragglersPerRead) break
        keys.push({ laneId: lane.id, key })
        lane.freedKeys.delete(key)
      }
    }
    if (keys.length === 0) return
    this.beginStatement()
    const rows = await readKeyHeads(this.#options.database, keys)
    await this.#admitSome(lanes, rows, (lane, row) => lane.freedKeys.add(orderingKeyOf(row) ?? ''))
  }

  /** As many as each lane's share of bytes allows, the first in any case; what is left out must be asked for again. */
  async #admitSome(
    lanes: readonly Lane[],
    rows: readonly DeliveryRow[],
    leaveOut: (lane: Lane, row: DeliveryRow) => void,
  ): Promise<void> {
    const share = this.#share(lanes)
    const takenBytes = new Map<Lane, number>()
    const taken: DeliveryRow[] = []
    for (const row of rows) {
      const lane = this.#options.lanes.get(laneIdOf(row))
      if (lane === undefined || !isHeadOf(row) || !this.isNews(row[0])) continue
      const bytes = takenBytes.get(lane) ?? 0
      takenBytes.set(lane, bytes + sizeOf(row))
      if (bytes < share.bytes) taken.push(row)
      else leaveOut(lane, row)
    }
    await this.#admit(taken)
  }
}

/** Nobody needs more than a second's worth at hand. */
function rowsByRate(lane: Lane): number {
  return lane.ratePerSecond === null ? maxReadAhead : Math.ceil(lane.ratePerSecond) + 1
}

interface Cut {
  readonly taken: readonly DeliveryRow[]
  readonly isCut: boolean
}

const nothing: Cut = { taken: [], isCut: false }

/** As many rows as fit, the first in any case. */
function cutByBytes(rows: readonly DeliveryRow[], maxBytes: number): Cut {
  let bytes = 0
  for (const [index, row] of rows.entries()) {
    bytes += sizeOf(row)
    if (bytes >= maxBytes && index + 1 < rows.length) return { taken: rows.slice(0, index + 1), isCut: true }
  }
  return { taken: rows, isCut: false }
}

function byUrgency(first: DeliveryRow, second: DeliveryRow): number {
  return priorityOf(second) - priorityOf(first) || first[0] - second[0]
}
