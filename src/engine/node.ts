import type { SettingPin } from '../core/settings/setting-pin.ts'
import type { Database } from '../storage/database.ts'
import { type BeatResult, markStopping, type TakenShard } from '../storage/nodes.ts'
import { reportLanes } from '../storage/read-lanes.ts'
import { pinSettings } from '../storage/settings.ts'
import { attemptsChannel, notifyFollowers } from '../storage/tail.ts'
import type { TransformRegistry } from '../transforms/registry.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import { Background } from './background.ts'
import { type Clock, DatabaseClock, systemClock } from './clock.ts'
import { Housekeeping, type HousekeepingSettings } from './housekeeping.ts'
import { defaultLimits, type NodeLimits } from './limits.ts'
import { logAttempts } from './log-attempts.ts'
import { type Logger, silentLogger } from './logger.ts'
import { Membership } from './membership.ts'
import { NodeSettings } from './node-settings.ts'
import { Notices } from './notices.ts'
import { Notifications } from './notifications.ts'
import { combineObservers, type NodeObserver } from './observer.ts'
import { OperationRunner } from './operations/operation-runner.ts'
import type { OwnMessage } from './own-messages.ts'
import { Pipeline } from './pipeline.ts'
import { ShardDrain } from './shard-drain.ts'
import { Tail } from './tail.ts'

export interface NodeOptions extends HousekeepingSettings {
  /** For reading and settling. */
  readonly database: Database
  /** For heartbeats alone. */
  readonly beatDatabase: Database
  /** For bulk actions, whose steps may take long. */
  readonly operationsDatabase: Database
  readonly transports: TransportRegistry
  readonly transforms: TransformRegistry
  readonly version: string
  /** Null behind a transaction-pooling proxy: then the node polls. */
  readonly listenUrl: string | null
  readonly isNameExclusive?: boolean
  /** Settings that can't be changed elsewhere while this node runs. */
  readonly pins?: readonly SettingPin[]
  readonly limits?: Partial<NodeLimits>
  readonly logger?: Logger
  /** A source was created, changed or deleted. */
  readonly onSourcesChanged?: () => void
  readonly observers?: readonly Partial<NodeObserver>[]
  readonly clock?: Clock
}

/** A node that receives notifications of new operations polls less often by this factor. */
const notifiedPollFactor = 5
/** A node that has recorded results within this time counts as delivering. */
const busyForMs = 250

/** One process that dispatches deliveries: the pipeline, the shards that it works on, and its background tasks. */
export class Node {
  readonly #options: NodeOptions
  readonly #limits: NodeLimits
  readonly #logger: Logger
  readonly #observer: Required<NodeObserver>
  readonly #clock: Clock
  readonly #databaseClock: DatabaseClock
  readonly #background: Background
  readonly #tail: Tail
  readonly #settings: NodeSettings
  readonly #notices: Notices
  readonly #pipeline: Pipeline
  readonly #membership: Membership
  readonly #drain: ShardDrain
  readonly #notifications: Notifications
  readonly #housekeeping: Housekeeping
  readonly #operations: OperationRunner
  #pinnedAs = 0
  #isStopping = false
  #started: Promise<void> | null = null
  #stopped: Promise<void> | null = null
  #following: Promise<void> | null = null

  constructor(options: NodeOptions) {
    const { controlDatabase } = options
    this.#options = options
    this.#limits = { ...defaultLimits, ...options.limits }
    this.#logger = options.logger ?? silentLogger
    this.#clock = options.clock ?? systemClock
    this.#databaseClock = new DatabaseClock(this.#clock)
    this.#background = new Background(this.#logger)
    this.#tail = new Tail({
      publish: (payload) => notifyFollowers(controlDatabase, attemptsChannel, payload),
    })
    this.#settings = new NodeSettings({ database: controlDatabase, logger: this.#logger })
    this.#notices = new Notices(controlDatabase)
    this.#housekeeping = this.#makeHousekeeping()
    this.#observer = combineObservers([
      logAttempts(this.#logger),
      this.#tail,
      ...this.#housekeeping.observers,
      ...(options.observers ?? []),
    ])
    const shared = {
      ...options,
      clock: this.#clock,
      databaseClock: this.#databaseClock,
      limits: this.#limits,
      logger: this.#logger,
    }
    this.#pipeline = new Pipeline({
      ...shared,
      observer: this.#observer,
      background: this.#background,
      settings: this.#settings,
      ownership: () => this.#membership,
      mayWork: () => this.#mayWork(),
      isStopping: () => this.#isStopping,
      canBeRung: () => this.#notifications.isConnected,
    })
    const { dispatcher, lanes } = this.#pipeline
    this.#drain = new ShardDrain({ ...shared, lanes, dispatcher })
    this.#operations = this.#makeOperations()
    this.#notifications = this.#makeNotifications()
    this.#membership = new Membership({
      ...shared,
      database: controlDatabase,
      isNameExclusive: options.isNameExclusive ?? false,
      ...this.#membershipEvents(),
    })
  }

  #makeHousekeeping(): Housekeeping {
    return new Housekeeping({
      settings: this.#options,
      siteSettings: this.#settings,
      limits: this.#limits,
      logger: this.#logger,
      databaseClock: this.#databaseClock,
      incarnation: () => this.incarnation,
      epochOf: (shard) => (this.#mayWork() ? this.#membership.epochOf(shard) : undefined),
      isFenced: () => this.isFenced,
      sweep: () => this.#pipeline.sweeper.sweep(),
    })
  }

  #makeOperations(): OperationRunner {
    const { operationsDatabase, name } = this.#options
    const { settler } = this.#pipeline
    return new OperationRunner({
      database: operationsDatabase,
      logger: this.#logger,
      nodeName: name,
      mayWork: () => this.#mayWork(),
      isBusy: () => this.#clock.monotonicMs() - settler.lastBatchMs < busyForMs,
      pollMs: () => this.#limits.slowPollMs * (this.#notifications.isConnected ? notifiedPollFactor : 1),
    })
  }

  #makeNotifications(): Notifications {
    const { lanes, loop, reader, refresher, shapes } = this.#pipeline
    return new Notifications({
      listenUrl: this.#options.listenUrl,
      lanes,
      refresher,
      shapes,
      loop,
      notices: this.#notices,
      operations: this.#operations,
      tail: this.#tail,
      logger: this.#logger,
      onAlertsDue: () => void this.#housekeeping.look(),
      onSourcesChanged: () => this.#options.onSourcesChanged?.(),
      onSettingChanged: () => void this.#background.tolerate(this.#readSettings()),
      recount: (lane) => this.#pipeline.recount(lane),
      readmit: (lane) => reader.readmit(lane.id),
      report: (error) => this.#background.report(error),
    })
  }

  /** How the pipeline reacts to changes of the owned shards. */
  #membershipEvents() {
    const { lanes, loop, shapes } = this.#pipeline
    const pipeline = this.#pipeline
    return {
      owed: () => lanes.owed,
      watermarks: () => ({
        lanes: lanes.watermark,
        shapes: shapes.watermark,
        notices: this.#notices.watermark,
      }),
      onRegistered: (incarnation: number) => this.#notifications.listenAs(incarnation),
      onBeat: (result: BeatResult) => this.#startFollowing(result),
      onTaken: (shards: readonly TakenShard[], from: number) =>
        loop.exclusively(() => this.#takeShards(shards, from)),
      onInterrupted: (count: number) => this.#observer.interrupted('delivery', count),
      drain: (shards: readonly number[], letGo: (shards: readonly number[]) => Promise<void>) =>
        this.#drain.drain(shards, letGo),
      onKept: (shards: readonly number[]) => this.#drain.keep(shards),
      onLost: (shards: readonly number[]) => pipeline.dropShards(shards),
      onReleased: (shards: readonly number[]) => {
        pipeline.dropShards(shards)
        this.#observer.shardsReleased(shards)
      },
      onFenced: () => {
        pipeline.fence()
        this.#observer.fenced()
      },
      onResumed: () => {
        this.#observer.resumed()
        pipeline.resume()
      },
      onClockSteppedBack: () => pipeline.waitAnew(),
    }
  }

  get incarnation(): number {
    return this.#membership.incarnation
  }

  get inFlight(): number {
    return this.#pipeline.dispatcher.inFlight
  }

  get isFenced(): boolean {
    return this.#membership.isFenced
  }

  /** The shards that this node owns. */
  get shards(): readonly number[] {
    return this.#membership.shards() ?? Array.from({ length: 256 }, (_, shard) => shard)
  }

  /** Takes a message that this process has just committed for one of its lanes without a notification, after its publisher has received the result. */
  take(message: OwnMessage): void {
    setImmediate(() => this.#pipeline.take(message))
  }

  /** This process has changed an endpoint: the messages that it sends next must find the changed lane. */
  endpointChanged(name: string): void {
    for (const lane of this.#pipeline.lanes.all()) {
      if (lane.name === name) this.#notifications.laneChanged(lane)
    }
  }

  /** This process has stored messages, or may have. Only a node that sleeps is notified of them. */
  ring(): void {
    this.#pipeline.loop.ringBeside()
  }

  start(): Promise<void> {
    this.#started ??= this.#start()
    return this.#started
  }

  /** Stops reading, lets attempts in flight finish, settles them, and releases the shards. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #start(): Promise<void> {
    await this.#notices.open()
    await this.#settings.read()
    await this.#pipeline.start()
    await this.#membership.start()
    await this.#pinSettings()
    this.#housekeeping.start()
    this.#operations.start()
  }

  async #stop(): Promise<void> {
    if (this.#started === null) return
    await this.#started.catch(() => {})
    this.#isStopping = true
    this.#membership.beginStop()
    const deadlineMs = this.#clock.monotonicMs() + this.#limits.stopDeadlineMs
    await Promise.all([this.#pipeline.stopReading(), this.#housekeeping.stop(), this.#operations.stop()])
    await this.#background.tolerate(markStopping(this.#options.controlDatabase, this.incarnation))
    await this.#background.tolerate(this.#membership.release(this.#drain.idleOf(this.shards)))
    await this.#drain.untilIdle(deadlineMs)
    if (this.inFlight > 0) {
      this.#logger.warn(
        { inFlight: this.inFlight },
        'The deadline for stopping passed; aborting the attempts in flight',
      )
      this.#pipeline.abortInFlight()
    }
    await this.#settledBefore(Math.max(deadlineMs, this.#clock.monotonicMs() + 2000))
    this.#pipeline.settler.abandon()
    await this.#background.tolerate(this.#housekeeping.flush())
    await this.#pipeline.inFlightNotes.stop()
    await this.#background.tolerate(this.#membership.stop())
    await this.#following
    this.#tail.stop()
    await this.#notifications.stop()
    await this.#pipeline.close()
  }

  #mayWork(): boolean {
    return !this.#isStopping && !this.#membership.isFenced
  }

  async #takeShards(taken: readonly TakenShard[], from: number): Promise<void> {
    this.#membership.adopt(taken)
    await this.#pipeline.takeShards(taken, from)
    // The node that takes the leading shard needn't wait for its next check.
    void this.#housekeeping.look()
  }

  /** Pinned settings belong to an incarnation: the next one pins them again. */
  async #pinSettings(): Promise<void> {
    const { incarnation } = this
    const { controlDatabase, pins = [] } = this.#options
    if (pins.length > 0) {
      await pinSettings(controlDatabase, incarnation, pins)
      await this.#readSettings()
    }
    this.#pinnedAs = incarnation
  }

  /** The leading node checks at once, in case its tasks are due now. */
  async #readSettings(): Promise<void> {
    await this.#settings.read()
    await this.#housekeeping.look()
  }

  /** Runs apart from the heartbeats, which wait for nothing. If the last call is still in progress, the next heartbeat reports the change again. */
  #startFollowing(result: BeatResult): void {
    this.#following ??= this.#background.tolerate(this.#follow(result)).finally(() => {
      this.#following = null
    })
  }

  /** Reads changes that the heartbeat announced, and reports the numbers of pending deliveries. */
  async #follow({ life, haveLanesChanged, haveShapesChanged, hasNotices }: BeatResult): Promise<void> {
    if (!this.#mayWork()) return
    const { arrivals, lanes, loop, shapes } = this.#pipeline
    // A sleeping node reads no arrivals, which would show a restart of the server.
    if (life !== arrivals.life) loop.ring()
    if (this.#pinnedAs !== this.incarnation) await this.#pinSettings()
    if (hasNotices) await this.#notifications.readNotices()
    if (haveLanesChanged) await lanes.readChanges()
    if (haveShapesChanged || shapes.checksSchemas) await shapes.readChanges()
    const reports = lanes.takeReports()
    if (reports.length > 0) await reportLanes(this.#options.controlDatabase, reports)
  }

  async #settledBefore(deadlineMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const expired = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, deadlineMs - this.#clock.monotonicMs())
    })
    await Promise.race([this.#pipeline.settler.drained(), expired])
    // A timer left running would keep the process alive.
    clearTimeout(timer)
  }
}
