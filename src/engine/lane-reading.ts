import type { Delivery } from './delivery.ts'

/** A lane's deliveries of one priority. All rows up to the cursor have been read, or are known not to exist. */
export class Stream {
  #cursor = 0
  #isBehind = false
  /** How often the cursor was moved back; a read in progress compares this number. */
  #rewinds = 0

  get cursor(): number {
    return this.#cursor
  }

  /** There may be rows after the cursor. */
  get isBehind(): boolean {
    return this.#isBehind
  }

  get rewinds(): number {
    return this.#rewinds
  }

  noteMore(): void {
    this.#isBehind = true
  }

  /** All rows up to this cursor are known. */
  pass(cursor: number): void {
    this.#cursor = Math.max(this.#cursor, cursor)
  }

  /** A read reached this cursor. If a returned delivery moved the cursor back meanwhile, the lower position is kept. */
  advance(cursor: number, isBehind: boolean, rewindsBefore: number): void {
    if (this.#rewinds !== rewindsBefore) return
    this.#cursor = cursor
    this.#isBehind = isBehind
  }

  rewindTo(cursor: number): void {
    this.#cursor = Math.min(this.#cursor, cursor)
    this.#isBehind = true
    this.#rewinds += 1
  }
}

/** A timestamp's microseconds are lost in milliseconds as a double. */
const timestampErrorMs = 1

/** Deliveries scheduled for a time, mostly retries: when to read them, and from where. Times are in database time. */
export class LaneSchedule {
  #nextDueAtMs = Number.POSITIVE_INFINITY
  #floorMs = Number.NEGATIVE_INFINITY
  #sweptAtMs = Number.NEGATIVE_INFINITY

  /** When the next delivery falls due, as far as known; infinite if there is none. */
  get nextDueAtMs(): number {
    return this.#nextDueAtMs
  }

  /** A delivery is scheduled for this time or, if that is an estimate, not before `earliestMs`. */
  note(dueAtMs: number, earliestMs = dueAtMs): void {
    this.lookAt(dueAtMs)
    this.readFrom(earliestMs)
  }

  lookAt(atMs: number): void {
    this.#nextDueAtMs = Math.min(this.#nextDueAtMs, atMs)
  }

  readFrom(dueAtMs: number): void {
    this.#floorMs = Math.min(this.#floorMs, dueAtMs - timestampErrorMs)
  }

  /**
   * Begins a read and returns its start: after the dead rows of deliveries that were due long ago. Periodically it is the very beginning, for
   * deliveries that no event announced. Times noted during the read are kept.
   */
  begin(nowMs: number, sweepMs: number): number {
    const fromMs = nowMs >= this.#sweptAtMs + sweepMs ? Number.NEGATIVE_INFINITY : this.#floorMs
    this.#nextDueAtMs = Number.POSITIVE_INFINITY
    this.#floorMs = Number.POSITIVE_INFINITY
    return fromMs
  }

  /** The rows of a read that began at `fromMs` have been processed; everything before `upToMs` has been read. */
  end(fromMs: number, upToMs: number, nowMs: number, sweepMs: number): void {
    this.readFrom(upToMs)
    if (fromMs === Number.NEGATIVE_INFINITY) this.#sweptAtMs = nowMs
    else this.lookAt(this.#sweptAtMs + sweepMs)
  }

  /** Reads the schedule from its beginning, at once. */
  rewind(): void {
    this.#nextDueAtMs = 0
    this.#floorMs = Number.NEGATIVE_INFINITY
  }

  /** Drops times computed with a clock that has stepped back since. A lane without scheduled deliveries still has none. */
  waitAnew(): void {
    this.#floorMs = Number.NEGATIVE_INFINITY
    if (this.#nextDueAtMs !== Number.POSITIVE_INFINITY) this.#nextDueAtMs = 0
  }
}

const minReadAhead = 32
const maxReadAhead = 2000
const maxProbeReadAhead = 512
/** How many milliseconds of a lane's throughput are kept in memory: several round trips to a busy database. */
const readAheadMs = 50

/** How far ahead a lane is read, by its throughput. */
export class ReadPace {
  /** At least as many as can be in flight at once, or two batches. */
  #minRows = 0
  #rows = 256
  #probeRows = 1
  #maxRowsByRate = maxReadAhead
  #startsSinceRead = 0
  #startsSinceLook = 0
  #lastReadAtMs = 0

  /** How many deliveries are worth reading at once. */
  get rows(): number {
    return Math.min(this.#rows, this.#maxRowsByRate)
  }

  /** How many rows to read to find one for a probe; grows after each read that found none. */
  get probeRows(): number {
    return this.#probeRows
  }

  /** Applies the lane's settings. More than a second's worth of deliveries is never needed in memory. */
  limit(minRows: number, ratePerSecond: number | null): void {
    this.#minRows = Math.min(minRows, maxReadAhead)
    this.#maxRowsByRate = ratePerSecond === null ? maxReadAhead : Math.ceil(ratePerSecond) + 1
  }

  noteStart(): void {
    this.#startsSinceRead += 1
    this.#startsSinceLook += 1
  }

  /** Starts since the last check for stuck lanes; zero means stuck. */
  takeStarts(): number {
    const starts = this.#startsSinceLook
    this.#startsSinceLook = 0
    return starts
  }

  /** A lane that waits for a batch to fill up isn't slow: it must be read far enough ahead to fill it. */
  readAtLeast(rows: number): void {
    this.#rows = Math.max(this.#rows, rows)
  }

  /** Adjusts how far ahead to read to the lane's throughput since the last read. */
  tune(nowMs: number): void {
    const pace = this.#startsSinceRead / Math.max(1, nowMs - this.#lastReadAtMs)
    this.#startsSinceRead = 0
    this.#lastReadAtMs = nowMs
    const floor = Math.max(minReadAhead, this.#minRows)
    const wanted = Math.max(floor, this.#rows >> 1, Math.ceil(pace * readAheadMs))
    this.#rows = Math.min(maxReadAhead, wanted)
  }

  /**
   * A probe needs one delivery that isn't waiting for its ordering key. Reads grow, so that many waiting deliveries in front aren't read row by row.
   */
  tuneProbe(hasFound: boolean): void {
    this.#probeRows = hasFound ? 1 : Math.min(maxProbeReadAhead, this.#probeRows * 2)
  }
}

/** Which deliveries of a lane are still to be read, and how far ahead. */
export class LaneReading {
  readonly streams: readonly Stream[] = Array.from({ length: 4 }, () => new Stream())
  readonly schedule = new LaneSchedule()
  readonly pace = new ReadPace()
  #stragglers: number[] = []
  readonly #freedKeys = new Set<string>()

  /** Whether there may be rows to read, regardless of whether there is room for them or the lane may send. */
  hasMore(nowMs: number): boolean {
    return (
      this.schedule.nextDueAtMs <= nowMs ||
      this.#stragglers.length > 0 ||
      this.#freedKeys.size > 0 ||
      this.streams.some((stream) => stream.isBehind)
    )
  }

  /** A delivery became visible behind its stream's cursor. */
  addStraggler(deliveryId: number): void {
    this.#stragglers.push(deliveryId)
  }

  takeStragglers(max: number): number[] {
    return this.#stragglers.splice(0, max)
  }

  /** The next delivery of this ordering key may be sent. */
  freeKey(key: string): void {
    this.#freedKeys.add(key)
  }

  takeFreedKeys(max: number): string[] {
    const keys = [...this.#freedKeys].slice(0, max)
    for (const key of keys) this.#freedKeys.delete(key)
    return keys
  }

  /** Starts from the beginning: after a takeover, a fence or a change of the settings. */
  rewindAll(): void {
    for (const stream of this.streams) stream.rewindTo(0)
    this.schedule.rewind()
    this.#freedKeys.clear()
    this.#stragglers = []
  }

  /** Marks one delivery as unread: the next read finds it again. */
  rewindTo(delivery: Delivery): void {
    if (delivery.isScheduled) this.schedule.rewind()
    else this.streams[delivery.priority]?.rewindTo(delivery.id - 1)
    // An older delivery of its key, committed late, may have been skipped because of it.
    if (delivery.orderingKey !== null) this.#freedKeys.add(delivery.orderingKey)
  }
}
