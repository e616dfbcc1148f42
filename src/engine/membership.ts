import { preferredOwners, shardCount } from '../core/rendezvous.ts'
import type { Database } from '../storage/database.ts'
import {
  type BeatResult,
  beat,
  buryNode,
  type ChangeWatermarks,
  registerNode,
  releaseShards,
  retireNode,
  type TakenShard,
  takeShards,
} from '../storage/nodes.ts'
import type { Clock, DatabaseClock } from './clock.ts'
import type { NodeLimits } from './limits.ts'
import { Liveness } from './liveness.ts'
import type { Logger } from './logger.ts'

/** Questions that other parts of a node ask about the shards it owns. */
export interface Ownership {
  readonly incarnation: number
  /** Other nodes may own the shards of this node by now. */
  readonly isFenced: boolean
  /** The epoch under which this node owns the shard, or undefined if it doesn't. */
  epochOf(shard: number): number | undefined
  /** The shard is being released to another node: nothing may start on it. */
  isLeaving(shard: number): boolean
  /** The shards that this node owns; null = all of them. */
  shards(): readonly number[] | null
}

export interface MembershipOptions {
  readonly database: Database
  /** A connection for heartbeats only: a statement that waits for a lock must not delay them. */
  readonly beatDatabase: Database
  readonly clock: Clock
  readonly databaseClock: DatabaseClock
  readonly limits: NodeLimits
  readonly logger: Logger
  readonly name: string
  readonly version: string
  /** Whether only this process can run under this name, so that an earlier incarnation of it is certainly dead. */
  readonly isNameExclusive: boolean
  owed(): number
  watermarks(): ChangeWatermarks
  /** A heartbeat succeeded. */
  onBeat(result: BeatResult): void
  /** Shards were taken: call `adopt`, then load their lanes, while no read is in progress. */
  onTaken(shards: readonly TakenShard[], from: number): Promise<void>
  /** This many attempts of a dead node were in flight in the shards taken from it. */
  onInterrupted(count: number): void
  /** These shards now belong to a peer: start nothing on them, and release each as soon as nothing of it is in flight or unsettled. */
  drain(shards: readonly number[], letGo: (shards: readonly number[]) => Promise<void>): Promise<void>
  /** These shards have another owner, even if attempts are in flight. */
  onLost(shards: readonly number[]): void
  /** Releasing these shards failed: this node still owns them. */
  onKept(shards: readonly number[]): void
  onReleased(shards: readonly number[]): void
  onFenced(): void
  onResumed(): void
  /** The database's clock has stepped back: scheduled deliveries would wait longer by the step. */
  onClockSteppedBack(): void
  onRegistered(incarnation: number): void
}

/**
 * Decides which shards this node owns. Every node sends heartbeats, watches the heartbeats of the others, and takes the shards that rendezvous
 * hashing assigns to it once they are free; there is no leader. See docs/ownership.md for the protocol.
 */
export class Membership implements Ownership {
  readonly #options: MembershipOptions
  readonly #epochs = new Map<number, number>()
  readonly #releasing = new Set<number>()
  #liveness: Liveness
  #incarnation = 0
  #lastGoodBeatSentMs = Number.NEGATIVE_INFINITY
  #isFenced = false
  #isStopping = false
  #beatTimer: NodeJS.Timeout | undefined
  #fenceTimer: NodeJS.Timeout | undefined
  #beating: Promise<void> | null = null
  #balancing: Promise<void> | null = null

  constructor(options: MembershipOptions) {
    this.#options = options
    this.#liveness = new Liveness(options.limits.deadAfterMs, options.limits.beatMs * 2.5)
  }

  get incarnation(): number {
    return this.#incarnation
  }

  epochOf(shard: number): number | undefined {
    return this.#epochs.get(shard)
  }

  /** Whether we still own the shard but are releasing it to another node: nothing may start on it. */
  isLeaving(shard: number): boolean {
    return this.#releasing.has(shard)
  }

  /** The shards that we own; null = all of them. */
  shards(): readonly number[] | null {
    return this.#epochs.size === shardCount ? null : [...this.#epochs.keys()]
  }

  /** True if other nodes may be about to take over: too much time has passed since our last successful heartbeat was sent. */
  get isFenced(): boolean {
    return (
      this.#isFenced ||
      this.#options.clock.monotonicMs() - this.#lastGoodBeatSentMs > this.#options.limits.fenceAfterMs
    )
  }

  async start(): Promise<void> {
    await this.#register()
    this.#lastGoodBeatSentMs = this.#options.clock.monotonicMs()
    await this.#beatOnce()
    await this.#balancing
    this.#scheduleBeat()
    this.#watchFence()
  }

  /** Heartbeats continue, but this node takes no more shards. */
  beginStop(): void {
    this.#isStopping = true
  }

  /** Marks these shards as owned by this node. */
  adopt(taken: readonly TakenShard[]): void {
    for (const { shard, epoch } of taken) this.#epochs.set(shard, epoch)
  }

  async release(shards: readonly number[]): Promise<void> {
    if (shards.length === 0) return
    await releaseShards(this.#options.database, this.#incarnation, shards)
    for (const shard of shards) this.#epochs.delete(shard)
    this.#options.onReleased(shards)
  }

  /** Releases all shards and deletes this incarnation. */
  async stop(): Promise<void> {
    this.#isStopping = true
    clearTimeout(this.#beatTimer)
    clearTimeout(this.#fenceTimer)
    await this.#beating
    clearTimeout(this.#beatTimer)
    await this.#balancing
    if (this.#incarnation !== 0) await retireNode(this.#options.database, this.#incarnation)
    this.#epochs.clear()
  }

  async #register(): Promise<void> {
    const { database, name, version } = this.#options
    this.#incarnation = await registerNode(database, name, version)
    this.#liveness = new Liveness(this.#options.limits.deadAfterMs, this.#options.limits.beatMs * 2.5)
    this.#options.onRegistered(this.#incarnation)
  }

  #scheduleBeat(): void {
    this.#beatTimer = setTimeout(() => {
      this.#beating = this.#beatOnce()
        .catch((error: unknown) => {
          this.#options.logger.warn({ error: String(error) }, 'A heartbeat failed')
        })
        .finally(() => {
          this.#beating = null
          this.#scheduleBeat()
        })
    }, this.#options.limits.beatMs)
  }

  /** Sets a timer for the time at which the node must fence itself if no further heartbeat succeeds; an idle node isn't woken in between. */
  #watchFence(): void {
    const { clock, limits } = this.#options
    const leftMs = this.#lastGoodBeatSentMs + limits.fenceAfterMs - clock.monotonicMs()
    this.#fenceTimer = setTimeout(
      () => {
        this.#checkFence()
        this.#watchFence()
      },
      leftMs > 0 ? leftMs + 1 : Math.min(200, limits.beatMs / 2),
    )
  }

  #checkFence(): void {
    if (this.#isFenced || !this.isFenced) return
    this.#isFenced = true
    this.#options.logger.warn(
      {},
      'No heartbeat reached the database for too long: this node has stopped dispatching',
    )
    this.#options.onFenced()
  }

  async #beatOnce(): Promise<void> {
    const { beatDatabase, clock, databaseClock, limits } = this.#options
    const heldBefore = new Map(this.#epochs)
    const sentAtMs = clock.monotonicMs()
    const owed = this.#options.owed()
    const result = await beat(beatDatabase, this.#incarnation, owed, this.#options.watermarks())
    const receivedAtMs = clock.monotonicMs()
    if (!result.isKnown) {
      await this.#rejoin()
      return
    }
    // A response that took this long is stale.
    if (receivedAtMs - sentAtMs > limits.fenceAfterMs) return
    const hasSteppedBack = databaseClock.sync(result.databaseNowMs, sentAtMs, receivedAtMs)
    // Even if heartbeats succeed again, the interruption must be handled: rows read before it are stale.
    this.#checkFence()
    this.#lastGoodBeatSentMs = sentAtMs
    this.#loseMissing(heldBefore, result)
    if (this.#isFenced) {
      this.#isFenced = false
      this.#options.logger.info({}, 'Heartbeats reach the database again: this node continues')
      this.#options.onResumed()
    }
    if (hasSteppedBack) this.#options.onClockSteppedBack()
    this.#liveness.observe(result.peers, receivedAtMs)
    this.#options.onBeat(result)
    if (!this.#isStopping) this.#startBalancing(result)
  }

  /** Not awaited by heartbeats: taking over a long backlog takes time, and must not get this node declared dead. */
  #startBalancing(result: BeatResult): void {
    this.#balancing ??= this.#balance(result)
      .catch((error: unknown) => {
        this.#options.logger.warn({ error: String(error) }, 'Taking over shards failed; retrying')
      })
      .finally(() => {
        this.#balancing = null
      })
  }

  /** Another node declared us dead and took our shards. We start again as a new incarnation. */
  async #rejoin(): Promise<void> {
    this.#options.logger.warn(
      { incarnation: this.#incarnation },
      'This node was declared dead; joining the cluster again',
    )
    if (!this.#isFenced) {
      this.#isFenced = true
      this.#options.onFenced()
    }
    this.#loseAll()
    await this.#balancing
    // Shards that were being taken meanwhile belong to the dead incarnation.
    this.#loseAll()
    if (!this.#isStopping) await this.#register()
  }

  #loseAll(): void {
    const lost = [...this.#epochs.keys()]
    this.#epochs.clear()
    this.#releasing.clear()
    if (lost.length > 0) this.#options.onLost(lost)
  }

  /** `held`: the shards that we owned when the heartbeat was sent; its response doesn't include shards taken since. */
  #loseMissing(held: ReadonlyMap<number, number>, result: BeatResult): void {
    const lost = [...held]
      .filter(([shard, epoch]) => this.#epochs.get(shard) === epoch && !this.#releasing.has(shard))
      .filter(
        ([shard, epoch]) => result.owners[shard] !== this.#incarnation || result.epochs[shard] !== epoch,
      )
      .map(([shard]) => shard)
    if (lost.length === 0) return
    for (const shard of lost) this.#epochs.delete(shard)
    this.#options.logger.warn({ shards: lost.length }, 'Shards were taken from this node')
    this.#options.onLost(lost)
  }

  async #balance(result: BeatResult): Promise<void> {
    const isGone = (incarnation: number) => this.#isGone(incarnation, result)
    const alive = result.peers
      .filter((peer) => !peer.isStopping && !isGone(peer.incarnation))
      .map((peer) => peer.incarnation)
    const preferred = preferredOwners(alive)
    const wanted = new Map<number, number[]>()
    const unwanted: number[] = []
    for (let shard = 0; shard < shardCount; shard++) {
      const owner = result.owners[shard] ?? 0
      const isPreferred = preferred[shard] === this.#incarnation
      if (owner === this.#incarnation && !isPreferred && !this.#releasing.has(shard)) unwanted.push(shard)
      if (!isPreferred || !(owner === 0 || isGone(owner) || this.#isForgotten(owner, shard))) continue
      const group = wanted.get(owner)
      if (group === undefined) wanted.set(owner, [shard])
      else group.push(shard)
    }
    for (const [from, shards] of wanted) await this.#take(from, shards)
    if (unwanted.length > 0) this.#handOver(unwanted)
    for (const peer of result.peers) {
      const ownsNothing = !result.owners.includes(peer.incarnation)
      if (ownsNothing && isGone(peer.incarnation)) {
        await buryNode(this.#options.database, peer.incarnation, peer.beat)
      }
    }
  }

  /** Ours in the database, but not in memory: the response to taking them was lost, or loading failed. */
  #isForgotten(owner: number, shard: number): boolean {
    return owner === this.#incarnation && !this.#epochs.has(shard) && !this.#releasing.has(shard)
  }

  #isGone(incarnation: number, result: BeatResult): boolean {
    if (incarnation === this.#incarnation) return false
    const peer = result.peers.find((each) => each.incarnation === incarnation)
    if (peer === undefined) return true
    if (this.#options.isNameExclusive && peer.name === this.#options.name) return true
    return this.#liveness.isDead(incarnation)
  }

  async #take(from: number, shards: readonly number[]): Promise<void> {
    const { database, logger } = this.#options
    const seenBeat = from === 0 ? -1 : this.#liveness.seenBeat(from)
    const { taken, interrupted } = await takeShards(
      database,
      this.#incarnation,
      { incarnation: from, seenBeat },
      shards,
    )
    if (taken.length === 0) return
    if (interrupted > 0) this.#options.onInterrupted(interrupted)
    if (from === 0) logger.debug({ shards: taken.length }, 'Took over free shards')
    else if (from === this.#incarnation)
      logger.info({ shards: taken.length }, 'Took the shards of this node again')
    else logger.warn({ shards: taken.length, from, interrupted }, 'Took over the shards of a dead node')
    try {
      await this.#options.onTaken(taken, from)
    } catch (error) {
      for (const { shard } of taken) this.#epochs.delete(shard)
      this.#options.onLost(taken.map(({ shard }) => shard))
      throw error
    }
  }

  #handOver(shards: readonly number[]): void {
    const incarnation = this.#incarnation
    for (const shard of shards) this.#releasing.add(shard)
    const letGo = async (drained: readonly number[]) => {
      // Declared dead meanwhile: the shards that we own now were taken by our next incarnation, and must not be released.
      if (this.#incarnation !== incarnation) return
      await this.release(drained)
      for (const shard of drained) this.#releasing.delete(shard)
    }
    this.#options.drain(shards, letGo).catch((error: unknown) => {
      this.#options.logger.warn({ error: String(error) }, 'Releasing shards failed; retrying')
      if (this.#incarnation !== incarnation) return
      for (const shard of shards) this.#releasing.delete(shard)
      this.#options.onKept(shards)
    })
  }
}
