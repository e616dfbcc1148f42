import { Ramp } from '../core/health/ramp.ts'
import { RateLimiter } from '../core/health/rate-limiter.ts'
import { shardOfLane } from '../core/rendezvous.ts'
import type { BreakerRow, LaneRow } from '../storage/read-lanes.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import { LaneHealth } from './lane-health.ts'
import { type LanePolicy, policyFingerprint, readLanePolicy } from './lane-policy.ts'
import { LaneReading } from './lane-reading.ts'
import { OwedCount } from './owed-count.ts'
import { type ReadAhead, ReadyLine } from './ready-line.ts'

/** Whether a lane may send now, may send one probe, or must wait (until a time, or until its settings change). */
export type Gate =
  | { readonly kind: 'open' }
  | { readonly kind: 'probe' }
  | { readonly kind: 'shut'; readonly untilMs: number }

const open: Gate = { kind: 'open' }
const probe: Gate = { kind: 'probe' }
const shut: Gate = { kind: 'shut', untilMs: Number.POSITIVE_INFINITY }

/**
 * The deliveries of one endpoint on the node that owns it: which have been read, which are in flight, and whether it may send. Times are
 * in database time.
 */
export class Lane {
  readonly id: number
  readonly name: string
  readonly shard: number
  readonly epoch: number
  readonly reading = new LaneReading()
  readonly count = new OwedCount()
  readonly ready: ReadyLine
  readonly health: LaneHealth

  breaker: BreakerRow
  inFlight = 0
  /** Number of deliveries read and not yet settled: ready, in flight, or waiting for their commit. */
  known = 0
  knownScheduled = 0
  probeInFlight: string | null = null
  isDraining = false
  /** An uncommitted result may shut this lane; nothing starts until it is committed. */
  isAwaitingVerdict = false
  /**
   * Other processes have ended some of the lane's deliveries, or may have; a read in progress may still return them.
   * Nothing starts until the lane is read from the beginning.
   */
  isRestarting = false

  #row: LaneRow
  #policy: LanePolicy | null = null
  #holdReason: string | null = null
  #limiter: RateLimiter | null = null
  #ramp: Ramp | null = null
  /** Created with the first attempt: most of ten thousand lanes are idle. */
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

  /** The last owner held the lane, as recorded in the database. */
  get wasHeld(): boolean {
    return this.#row.holdReason !== null
  }

  get holdReason(): string | null {
    return this.#holdReason
  }

  get isIdle(): boolean {
    return this.known === 0
  }

  /** Neither paused nor disabled, and not `rejecting`. */
  get isActive(): boolean {
    return this.#row.state === 'active'
  }

  get owed(): number {
    return this.count.total
  }

  get pending(): number {
    return this.count.pending
  }

  /** The parsed settings and the open channel; created on first use, because ten thousand idle endpoints need none. */
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
    this.reading.pace.limit(batch === null ? limits.concurrency : batch.maxMessages * 2, ratePerSecond)
    this.#limiter = ratePerSecond === null ? null : new RateLimiter(ratePerSecond)
    return this.#policy
  }

  /** How many deliveries can be in flight at once. */
  maxOut(transports: TransportRegistry): number {
    const settings = this.policy(transports)?.settings
    return (settings?.limits.concurrency ?? 1) * (settings?.batch?.maxMessages ?? 1)
  }

  /** Whether a dead letter blocks its ordering key until it is settled. */
  get blocksKeysOnDeath(): boolean {
    return this.#policy?.settings.onDead === 'block'
  }

  /** Applies a changed row. Returns the channel that is no longer used. */
  update(row: LaneRow): LanePolicy['channel'] | null {
    const isSamePolicy = policyFingerprint(row) === policyFingerprint(this.#row)
    if (row.state === 'active' && !this.isActive) this.health.forgive()
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
      this.isRestarting ||
      this.#holdReason !== null ||
      !this.isActive
    )
      return shut
    const { state, heldUntilMs, probeAtMs, probeExpiresAtMs } = this.breaker
    if (heldUntilMs !== null && heldUntilMs > nowMs) return { kind: 'shut', untilMs: heldUntilMs }
    if (state === 'closed') return open
    // A probe is sent alone. Requests from before the circuit opened may still be in flight; when the last one ends, it pumps the lane.
    if (this.probeInFlight !== null || this.inFlight > 0) return shut
    const freeAtMs = (state === 'open' ? probeAtMs : probeExpiresAtMs) ?? 0
    return freeAtMs <= nowMs ? probe : { kind: 'shut', untilMs: freeAtMs }
  }

  /** How many attempts may be in flight at once. */
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
   * Returns zero if the rate allows a start now (and counts it), otherwise how long to wait. Uses the monotonic clock: a
   * forward step of the database's clock would allow another burst.
   */
  takeRate(monotonicMs: number): number {
    if (this.#limiter === null || this.#limiter.tryTake(monotonicMs)) return 0
    return Math.max(1, this.#limiter.nextAtMs(monotonicMs) - monotonicMs)
  }

  /** Destroys the sockets of all attempts in flight. */
  abortInFlight(): void {
    this.#abort?.abort()
    this.#abort = null
  }

  /** For a lane whose endpoint was deleted: attempts in flight end and their results are recorded; no new ones start. */
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
