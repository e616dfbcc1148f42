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
  /** All rows up to this cursor have been seen under a snapshot; reading beyond it could skip a late commit. */
  cursor(): number
}

const maxStragglersPerRead = 1000
/** Long enough for a slow but working receiver to start a delivery. */
const reclaimIntervalMs = 250
const crowdedScheduleMs = 50
const minShareRows = 16
const minShareBytes = 256 * 1024

/** Reads the lanes that requested more deliveries: a few statements for all of them, whatever their number. */
export class Reader {
  readonly #options: ReaderOptions
  readonly #queued = new Set<Lane>()
  #nextReclaimAtMs = 0
  #lastShareRows = Number.POSITIVE_INFINITY
  /** Deliveries settled since the read in progress was sent: its snapshot may still show them. */
  readonly #settledSinceRead = new Set<number>()
  /** Lane of each delivery whose result is quarantined. */
  readonly #shunned = new Map<number, number>()

  constructor(options: ReaderOptions) {
    this.#options = options
  }

  get hasWork(): boolean {
    return this.#queued.size > 0
  }

  /** Queues the lane if it has rows to read, has room for them, and may send. */
  request(lane: Lane, nowMs: number): boolean {
    if (this.#queued.has(lane) || !this.isWanted(lane, nowMs)) return false
    this.#queued.add(lane)
    return true
  }

  isQueued(lane: Lane): boolean {
    return this.#queued.has(lane)
  }

  /** Whether the lane may send, has rows to read that were due at this time, and has room for them. */
  isWanted(lane: Lane, nowMs: number): boolean {
    return this.#isRunningLow(lane) && lane.reading.hasMore(nowMs) && lane.gate(nowMs).kind !== 'shut'
  }

  /** Same condition as `#room`, with the last share: a lane queued without room would be queued again at once, in an endless loop. */
  #isRunningLow(lane: Lane): boolean {
    if (lane.breaker.state !== 'closed') return lane.ready.length === 0
    return lane.ready.length <= Math.min(lane.reading.pace.rows, this.#lastShareRows) >> 1
  }

  /** This delivery's result can't be stored; reading it again would only send it again. */
  shun(deliveryId: number, laneId: number): void {
    this.#shunned.set(deliveryId, laneId)
  }

  /** Results of this lane may be storable now. */
  readmit(laneId: number): void {
    for (const [deliveryId, itsLaneId] of this.#shunned)
      if (itsLaneId === laneId) this.#shunned.delete(deliveryId)
  }

  /** After a restart, the server may store results that it refused before. */
  readmitAll(): void {
    this.#shunned.clear()
  }

  noteSettled(deliveryId: number): void {
    this.#settledSinceRead.add(deliveryId)
  }

  /** Whether this node doesn't know a row yet that a read just returned. */
  isNews(deliveryId: number): boolean {
    return (
      !this.#options.dispatcher.known.has(deliveryId) &&
      !this.#settledSinceRead.has(deliveryId) &&
      !this.#shunned.has(deliveryId)
    )
  }

  /** Call right before a statement is sent: deliveries settled before are invisible to it. */
  beginStatement(): void {
    this.#settledSinceRead.clear()
  }

  /**
   * Adds arrivals that were read with their bodies to a lane that has read all rows before them, instead of reading them again: an idle lane's
   * delivery starts after one round trip. Returns false if the lane must read them itself.
   */
  takeWhole(lane: Lane, group: ArrivalGroup, cursor: number): boolean {
    const stream = lane.reading.streams[group.priority]
    if (stream === undefined || group.whole.length !== group.ready || !this.isCaughtUp(lane, group.priority))
      return false
    // A payload that must be validated first needs its schema loaded.
    if (group.whole.some(([, , , rest]) => rest[3])) return false
    for (const [row, body, createdAtMs, rest] of group.whole) {
      if (this.isNews(row[0])) this.#options.dispatcher.admit(lane, row, { body, createdAtMs, rest })
    }
    stream.pass(cursor)
    return true
  }

  /** Whether no delivery of the lane waits, read or unread, a slot is free, and the read-ahead has room. */
  isCaughtUp(lane: Lane, priority: number): boolean {
    const { databaseClock, lanes, limits } = this.#options
    const { rows, bytes } = lanes.readAhead
    return (
      lane.reading.streams[priority]?.isBehind === false &&
      lane.ready.length === 0 &&
      lane.inFlight < lane.concurrency &&
      rows < limits.maxReadAheadRows &&
      bytes < limits.maxReadAheadBytes &&
      lane.gate(databaseClock.nowMs()).kind === 'open'
    )
  }

  async readQueued(): Promise<void> {
    const { limits, dispatcher, lanes: table } = this.#options
    const lanes = [...this.#queued].slice(0, limits.maxLanesPerRead)
    for (const lane of lanes) this.#queued.delete(lane)
    const nowMs = this.#options.databaseClock.nowMs()
    const reading: Lane[] = []
    for (const lane of lanes) {
      if (!table.has(lane)) continue
      if (lane.gate(nowMs).kind !== 'shut') reading.push(lane)
      // Shut since it was queued, perhaps only because a heartbeat has put the estimated database time back by milliseconds: it needs another wake-up.
      else dispatcher.pump(lane)
    }
    if (reading.length === 0) return
    this.#reclaim()
    try {
      // The next probe is another delivery: new ones come before those that failed, which include the last probe.
      const probing = reading.filter((lane) => lane.breaker.state !== 'closed')
      if (probing.length > 0) await this.#readStreams(probing)
      await this.#readStragglers(reading)
      await this.#readFreedKeys(reading)
      await this.#readDue(reading, nowMs)
      await this.#readStreams(reading)
    } catch (error) {
      // Read requests of these lanes are dropped: they start from the beginning.
      for (const lane of reading) lane.reading.rewindAll()
      throw error
    } finally {
      for (const lane of reading) dispatcher.pump(lane)
    }
  }

  /** How many more deliveries of at least this priority the lane can take. */
  #room(lane: Lane, priority: number, share: number): number {
    if (lane.breaker.state !== 'closed')
      return lane.ready.length === 0 ? Math.min(lane.reading.pace.probeRows, share) : 0
    return Math.min(lane.reading.pace.rows, share) - lane.ready.countFrom(priority)
  }

  /** How much each of these lanes may read, so that all lanes together stay within the limits; a minimum is always granted. */
  #share(lanes: readonly Lane[]): { rows: number; bytes: number } {
    const { maxReadAheadRows, maxReadAheadBytes } = this.#options.limits
    const held = this.#options.lanes.readAhead
    this.#lastShareRows = Math.max(minShareRows, Math.floor((maxReadAheadRows - held.rows) / lanes.length))
    return {
      rows: this.#lastShareRows,
      bytes: Math.max(minShareBytes, Math.floor((maxReadAheadBytes - held.bytes) / lanes.length)),
    }
  }

  /**
   * Lanes that can't start anything (all slots are taken) release their deliveries when memory is scarce, so that a stuck receiver blocks no other.
   */
  #reclaim(): void {
    const { clock, dispatcher, lanes, limits } = this.#options
    const { rows, bytes } = lanes.readAhead
    if (rows < limits.maxReadAheadRows / 2 && bytes < limits.maxReadAheadBytes / 2) return
    const nowMs = clock.monotonicMs()
    if (nowMs < this.#nextReclaimAtMs) return
    this.#nextReclaimAtMs = nowMs + reclaimIntervalMs
    for (const lane of lanes.all()) {
      const isStuck = lane.reading.pace.takeStarts() === 0 && lane.inFlight >= lane.concurrency
      if (isStuck && lane.ready.length > 0) dispatcher.unread(lane)
    }
  }

  async #readStreams(lanes: readonly Lane[]): Promise<void> {
    const share = this.#share(lanes)
    const nowMs = this.#options.databaseClock.nowMs()
    const requests: (StreamRequest & { readonly lane: Lane; readonly rewinds: number })[] = []
    for (const lane of lanes) {
      lane.reading.pace.tune(nowMs)
      for (let priority = 3; priority >= 0; priority--) {
        const stream = lane.reading.streams[priority]
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
      const { taken, isCut: isCutByBytes } = cuts[index] ?? nothing
      const isCut = taken.length >= maxRows || isCutByBytes
      const cursor = isCut ? (taken.at(-1)?.[0] ?? after) : Math.max(after, upTo)
      lane.reading.streams[priority]?.advance(cursor, isCut || upTo < this.#options.cursor(), rewinds)
    }
  }

  #tuneProbeReads(requests: readonly { readonly lane: Lane }[], admitted: ReadonlySet<Lane>): void {
    for (const { lane } of requests) {
      if (lane.breaker.state !== 'closed') lane.reading.pace.tuneProbe(admitted.has(lane))
    }
  }

  async #readDue(lanes: readonly Lane[], nowMs: number): Promise<void> {
    const due = lanes.filter((lane) => lane.reading.schedule.nextDueAtMs <= nowMs)
    if (due.length === 0) return
    const { sweepMs } = this.#options.limits
    const share = this.#share(due)
    const requests = due
      // Deliveries in flight keep their place in the schedule until they are settled, so they are read and skipped.
      .map((lane) => ({ lane, room: this.#room(lane, 0, share.rows), known: lane.knownScheduled }))
      .filter(({ room }) => room > 0)
      .map(({ lane, room, known }) => ({
        lane,
        laneId: lane.id,
        room,
        maxRows: room + known,
        fromMs: lane.reading.schedule.begin(nowMs, sweepMs),
      }))
    if (requests.length === 0) return
    // Queried before due deliveries are read: one that falls due in between is in one result or in both.
    const next = await readNextDue(
      this.#options.database,
      requests.map(({ laneId }) => laneId),
    )
    const nextByLane = new Map(next)
    for (const { lane } of requests) {
      lane.reading.schedule.lookAt(nextByLane.get(lane.id) ?? Number.POSITIVE_INFINITY)
    }
    this.beginStatement()
    const { rows: answers, upToMs } = await readDue(this.#options.database, requests)
    // Deliveries in flight take no room; only new ones count.
    const cuts = answers.map((due, index) => {
      const fresh = due.filter((row) => isHeadOf(row) && this.isNews(row[0]))
      const { taken } = cutByBytes(fresh.slice(0, requests[index]?.room), share.bytes)
      return { total: due.length, taken, firstLeft: fresh[taken.length] }
    })
    const admitted = await this.#admit(cuts.flatMap(({ taken }) => taken.toSorted(byUrgency)))
    this.#tuneProbeReads(requests, admitted)
    for (const [index, { lane, maxRows, fromMs }] of requests.entries()) {
      const { schedule } = lane.reading
      const { total = 0, firstLeft } = cuts[index] ?? {}
      const hasMore = total >= maxRows || firstLeft !== undefined
      // If no row was new, deliveries in flight filled up the read: reading again at once would return the same rows.
      if (hasMore) schedule.lookAt(admitted.has(lane) ? 0 : nowMs + crowdedScheduleMs)
      const nextRow = firstLeft ?? answers[index]?.at(-1)
      schedule.end(fromMs, hasMore ? (nextRow?.[9] ?? fromMs) : upToMs, nowMs, sweepMs)
    }
    const behindKey = answers.flat().filter((row) => !isHeadOf(row))
    if (behindKey.length === 0) return
    await parkBehindKey(
      this.#options.database,
      behindKey.map((row) => row[0]),
    )
    // Deliveries before these rows may also have been skipped while their key was in use.
    for (const row of behindKey) {
      const key = orderingKeyOf(row)
      if (key !== null) this.#options.lanes.get(laneIdOf(row))?.reading.freeKey(key)
    }
  }

  /**
   * Adds new deliveries to their lane's line, with their bodies, after loading the transforms and schemas
   * that they need. Returns the lanes that got deliveries.
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
      ids.push(...lane.reading.takeStragglers(maxStragglersPerRead - ids.length))
      if (ids.length >= maxStragglersPerRead) break
    }
    if (ids.length === 0) return
    this.beginStatement()
    const rows = await readByIds(this.#options.database, ids)
    await this.#admitSome(lanes, rows, (lane, row) => lane.reading.addStraggler(row[0]))
  }

  async #readFreedKeys(lanes: readonly Lane[]): Promise<void> {
    const keys: { laneId: number; key: string }[] = []
    for (const lane of lanes) {
      const freed = lane.reading.takeFreedKeys(maxStragglersPerRead - keys.length)
      for (const key of freed) keys.push({ laneId: lane.id, key })
    }
    if (keys.length === 0) return
    this.beginStatement()
    const rows = await readKeyHeads(this.#options.database, keys)
    await this.#admitSome(lanes, rows, (lane, row) => lane.reading.freeKey(orderingKeyOf(row) ?? ''))
  }

  /** Admits as many as each lane's share of bytes allows, and at least the first; the rest must be read again. */
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

interface Cut {
  readonly taken: readonly DeliveryRow[]
  readonly isCut: boolean
}

const nothing: Cut = { taken: [], isCut: false }

/** Returns as many rows as fit, and at least the first. */
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
