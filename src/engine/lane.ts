import type { BatchPolicy } from '../core/endpoints/endpoint-config.ts'
import { Ramp } from '../core/health/ramp.ts'
import { RateLimiter } from '../core/health/rate-limiter.ts'
import { shardOfLane } from '../core/rendezvous.ts'
import type { BreakerRow, LaneRow } from '../storage/read-lanes.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { Delivery } from './delivery.ts'
import { LaneHealth } from './lane-health.ts'
import { type LanePolicy, policyFingerprint, readLanePolicy } from './lane-policy.ts'
import { type ReadAhead, ReadyLine } from './ready-line.ts'

/** A lane's line of one priority. Everything up to the cursor has been read, or is known to be missing. */
export interface Stream {
  cursor: number
  isBehind: boolean
  /** How often the cursor was moved back; a read under way compares. */
  rewinds: number
}

/** Whether a lane may send now, may send one probe, or must wait (until a time, or until somebody changes it). */
export type Gate =
  | { readonly kind: 'open' }
  | { readonly kind: 'probe' }
  | { readonly kind: 'shut'; readonly untilMs: number }

const open: Gate = { kind: 'open' }
const probe: Gate = { kind: 'probe' }
const shut: Gate = { kind: 'shut', untilMs: Number.POSITIVE_INFINITY }

/** Milliseconds as a double round off a timestamp's microseconds. */
const timestampErrorMs = 1

/**
 * The line of work of one endpoint on the node that owns it: what has been read, what is out, and whether it may go on. Times are
 * the database's.
 */
export class Lane {
  readonly id: number
  readonly name: string
  readonly shard: number
  readonly epoch: number
  readonly streams: readonly Stream[] = Array.from({ length: 4 }, () => ({
    cursor: 0,
    isBehind: false,
    rewinds: 0,
  }))
  readonly ready: ReadyLine
  /** Halves of batches that the receiver couldn't take whole; each waits to be sent by itself, the last one first. */
  readonly pieces: Delivery[][] = []
  readonly busyKeys = new Set<string>()
  readonly freedKeys = new Set<string>()
  readonly health: LaneHealth

  breaker: BreakerRow
  nextDueAtMs = Number.POSITIVE_INFINITY
  /** Whatever was due before has been read: a read begins here, past the dead rows of what was due long ago. */
  dueFloorMs = Number.NEGATIVE_INFINITY
  /** When the schedule was last read from its beginning. */
  scheduleReadAtMs = Number.NEGATIVE_INFINITY
  stragglers: number[] = []
  /** Owed, by our own count: summed at takeover, then arrivals minus endings. */
  pending = 0
  /** Owed besides, known, and not passed by the arrivals yet: see OwnMessages. */
  ahead = 0
  inFlight = 0
  /** Starts since the last look for stuck lines; none means stuck. */
  startsSinceReclaim = 0
  /** Read and not yet settled: ready, in flight, or waiting for their commit. */
  known = 0
  knownScheduled = 0
  probeInFlight: string | null = null
  /** Since when a batch has been waiting to fill up. */
  gatheringSinceMs: number | null = null
  isDraining = false
  /** Deliveries still to be written down before dispatch, after an unclean death of the last owner. */
  carefulLeft = 0
  /** Something was sent to be settled that may shut this lane; nothing is started until the verdict is in. */
  isAwaitingVerdict = false
  /** Somebody changed the endpoint: a row that was read before this moment (monotonic) doesn't show it. */
  changedAtMs = Number.NEGATIVE_INFINITY
  isReadQueued = false
  reportedOwed = 0
  reportedInFlight = 0
  /** When the wake queue will look at this lane again: the latest first, the next one last. */
  readonly wakes: number[] = []
  /** How many deliveries are worth reading at once, by the lane's pace since its last read. */
  readAhead = 256
  minReadAhead = 0
  /** How many are read to find one for a probe; more after each read that found none. */
  probeReadAhead = 1
  startsSinceRead = 0
  lastReadAtMs = 0

  #row: LaneRow
  #policy: LanePolicy | null = null
  #holdReason: string | null = null
  #limiter: RateLimiter | null = null
  #ramp: Ramp | null = null
  /** Made with the first attempt: most of ten thousand lanes are idle. */
  #abort: AbortController | null = null

  constructor(
    row: LaneRow,
    epoch: number,
    readAhead: ReadAhead = { rows: 0, bytes: 0 },
    rejectingThreshold?: () => number,
  ) {
    this.#row = row
    this.id = row.id
    this.name = row.name
    this.shard = shardOfLane(row.id)
    this.epoch = epoch
    this.ready = new ReadyLine(readAhead)
    this.breaker = row.breaker
    this.health = new LaneHealth(row.breaker, rejectingThreshold)
  }

  get signal(): AbortSignal {
    this.#abort ??= new AbortController()
    return this.#abort.signal
  }

  get transport(): string {
    return this.#row.transport
  }

  get state(): string {
    return this.#row.state
  }

  /** Its last owner held it, by what the database says. */
  get wasHeld(): boolean {
    return this.#row.holdReason !== null
  }

  get holdReason(): string | null {
    return this.#holdReason
  }

  get isIdle(): boolean {
    return this.known === 0
  }

  get owed(): number {
    return Math.max(0, this.pending + this.ahead)
  }

  /** The parsed settings and the open channel; made at the first need, because ten thousand idle endpoints need none. */
  policy(transports: TransportRegistry): LanePolicy | null {
    if (this.#policy !== null || this.#holdReason !== null) return this.#policy
    const result = readLanePolicy(this.#row, transports)
    if (!result.ok) {
      this.#holdReason = result.reason
      return null
    }
    this.#policy = result.policy
    const { batch, limits } = result.policy.settings
    const { ratePerSecond } = limits
    // At least what can be out at once, or two batches.
    this.minReadAhead = Math.min(batch === null ? limits.concurrency : batch.maxMessages * 2, 2000)
    this.#limiter = ratePerSecond === null ? null : new RateLimiter(ratePerSecond)
    return this.#policy
  }

  /** A dead letter holds its ordering key until it is settled. */
  get blocksKeysOnDeath(): boolean {
    return this.#policy?.settings.onDead === 'block'
  }

  /** Takes over a changed row. Returns the channel that is no longer used. */
  update(row: LaneRow): LanePolicy['channel'] | null {
    const isSamePolicy = policyFingerprint(row) === policyFingerprint(this.#row)
    if (row.state === 'active' && this.#row.state !== 'active') this.health.forgive()
    this.#row = row
    this.setBreaker(row.breaker)
    if (isSamePolicy && this.#holdReason === null) return null
    const channel = this.#policy?.channel ?? null
    this.#policy = null
    this.#holdReason = null
    return channel
  }

  setBreaker(breaker: BreakerRow): void {
    if (breaker.version < this.breaker.version) return
    if (breaker.state === 'closed' && this.breaker.state !== 'closed' && this.#policy !== null) {
      this.#ramp = new Ramp(this.#policy.settings.limits.concurrency)
    }
    this.breaker = breaker
    this.health.load(breaker)
  }

  gate(nowMs: number): Gate {
    if (
      this.isDraining ||
      this.isAwaitingVerdict ||
      this.#holdReason !== null ||
      this.#row.state !== 'active'
    )
      return shut
    const { state, heldUntilMs, probeAtMs, probeExpiresAtMs } = this.breaker
    if (heldUntilMs !== null && heldUntilMs > nowMs) return { kind: 'shut', untilMs: heldUntilMs }
    if (state === 'closed') return open
    // A probe stands alone: requests from before the circuit opened may still be in flight, and the last of them to end pumps the lane.
    if (this.probeInFlight !== null || this.inFlight > 0) return shut
    const freeAtMs = (state === 'open' ? probeAtMs : probeExpiresAtMs) ?? 0
    return freeAtMs <= nowMs ? probe : { kind: 'shut', untilMs: freeAtMs }
  }

  /** How many attempts may be out at once. */
  get concurrency(): number {
    const whole = this.#policy?.settings.limits.concurrency ?? 1
    return this.#ramp === null ? whole : Math.min(this.#ramp.limit, whole)
  }

  noteRamp(isSuccess: boolean, isHealthFailure: boolean): void {
    if (this.#ramp === null) return
    if (isSuccess) this.#ramp.succeeded()
    else if (isHealthFailure) this.#ramp.failed()
    if (this.#ramp.isComplete) this.#ramp = null
  }

  /**
   * Zero when the rate allows a start now (and counts it), else how long to wait. By the monotonic clock: when the database's clock stepped
   * forwards, it would grant another burst.
   */
  takeRate(monotonicMs: number): number {
    if (this.#limiter === null || this.#limiter.tryTake(monotonicMs)) return 0
    return Math.max(1, this.#limiter.nextAtMs(monotonicMs) - monotonicMs)
  }

  get ratePerSecond(): number | null {
    return this.#limiter?.ratePerSecond ?? null
  }

  /** How long a batch that isn't full yet may still wait for more; zero when it should go. */
  gatherMs(batch: BatchPolicy, monotonicMs: number): number {
    if (this.ready.length >= batch.maxMessages) return 0
    this.gatheringSinceMs ??= monotonicMs
    return Math.max(0, this.gatheringSinceMs + batch.maxWaitMs - monotonicMs)
  }

  /** Puts the pieces of cut batches back into the line. */
  uncut(): void {
    for (const piece of this.pieces.splice(0)) for (const delivery of piece) this.ready.add(delivery)
  }

  /** Something is scheduled for this time or, where that is our estimate, not before `earliestMs`. */
  noteScheduled(dueAtMs: number, earliestMs = dueAtMs): void {
    this.lookForDueAt(dueAtMs)
    this.readDueFrom(earliestMs)
  }

  readDueFrom(dueAtMs: number): void {
    this.dueFloorMs = Math.min(this.dueFloorMs, dueAtMs - timestampErrorMs)
  }

  lookForDueAt(atMs: number): void {
    this.nextDueAtMs = Math.min(this.nextDueAtMs, atMs)
  }

  /** Reads the schedule from its beginning, at once. */
  rewindSchedule(): void {
    this.nextDueAtMs = 0
    this.dueFloorMs = Number.NEGATIVE_INFINITY
  }

  /** Drops what was reckoned by a clock that has stepped back since. A lane that waits for nothing goes on doing so. */
  waitAnew(): void {
    this.dueFloorMs = Number.NEGATIVE_INFINITY
    if (this.nextDueAtMs !== Number.POSITIVE_INFINITY) this.nextDueAtMs = 0
    this.gatheringSinceMs = null
  }

  /** Whether there may be something to read: not whether there is room or leave for it. */
  hasMore(nowMs: number): boolean {
    return (
      this.nextDueAtMs <= nowMs ||
      this.stragglers.length > 0 ||
      this.freedKeys.size > 0 ||
      this.streams.some((stream) => stream.isBehind)
    )
  }

  /** Starts from the beginning: after a takeover, a fence or a change of the rules. */
  rewindAll(): void {
    for (const stream of this.streams) {
      stream.cursor = 0
      stream.isBehind = true
      stream.rewinds += 1
    }
    this.rewindSchedule()
    this.freedKeys.clear()
    this.stragglers = []
  }

  /** Un-reads one delivery: the next read finds it again. */
  rewindTo(delivery: Delivery): void {
    const stream = this.streams[delivery.priority]
    if (stream !== undefined && !delivery.isScheduled) {
      stream.cursor = Math.min(stream.cursor, delivery.id - 1)
      stream.isBehind = true
      stream.rewinds += 1
    }
    if (delivery.isScheduled) this.rewindSchedule()
    // An older one of its key, committed late, may have been turned away because of it.
    if (delivery.orderingKey !== null) this.freedKeys.add(delivery.orderingKey)
  }

  /** Destroys the sockets of every attempt under way. */
  abortInFlight(): void {
    this.#abort?.abort()
    this.#abort = null
  }

  /** Lets what is out end by itself, so that its answers are recorded; nothing new starts. For a lane whose endpoint was deleted. */
  async retire(): Promise<void> {
    await this.#policy?.channel.close()
    this.#policy = null
  }

  async close(): Promise<void> {
    this.#abort ??= new AbortController()
    this.#abort.abort()
    await this.#policy?.channel.close()
    this.#policy = null
  }
}
