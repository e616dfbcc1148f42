import type { SettingPin } from '../core/settings/setting-pin.ts'
import { isTracing } from '../observe/tracing.ts'
import type { Database } from '../storage/database.ts'
import { type BeatResult, markStopping, type TakenShard } from '../storage/nodes.ts'
import { tellFreedKeys } from '../storage/notices.ts'
import { reportLanes } from '../storage/read-lanes.ts'
import { pinSettings } from '../storage/settings.ts'
import { notifyAttempts } from '../storage/tail.ts'
import type { TransformRegistry } from '../transforms/registry.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import { Arrivals } from './arrivals.ts'
import { AttemptSender } from './attempt-sender.ts'
import { Background } from './background.ts'
import { CarefulMode } from './careful-mode.ts'
import { type Clock, DatabaseClock, systemClock } from './clock.ts'
import { Dispatcher } from './dispatcher.ts'
import { HandOver } from './hand-over.ts'
import { Housekeeping, type HousekeepingSettings } from './housekeeping.ts'
import { InFlightNotes } from './in-flight-notes.ts'
import type { Lane } from './lane.ts'
import { LaneCounter } from './lane-counter.ts'
import { LaneHolds } from './lane-holds.ts'
import { LaneRefresher } from './lane-refresher.ts'
import { LaneTable } from './lane-table.ts'
import { defaultLimits, type NodeLimits } from './limits.ts'
import { logAttempts } from './log-attempts.ts'
import { type Logger, silentLogger } from './logger.ts'
import { Membership } from './membership.ts'
import { NodeSettings } from './node-settings.ts'
import { Notices } from './notices.ts'
import { Notifications } from './notifications.ts'
import { combineObservers, type NodeObserver } from './observer.ts'
import { OperationRunner } from './operations/operation-runner.ts'
import { type OwnMessage, OwnMessages } from './own-messages.ts'
import { Reader } from './reader.ts'
import { Renderer } from './renderer.ts'
import { Settlement } from './settlement.ts'
import { Settler } from './settler.ts'
import { ShapeTable } from './shape-table.ts'
import { Sweeper } from './sweeper.ts'
import { Tail } from './tail.ts'
import { TracedSender } from './traced-sender.ts'
import { WorkLoop } from './work-loop.ts'

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
  /** Settings that nobody may change elsewhere while this node lives. */
  readonly pins?: readonly SettingPin[]
  readonly limits?: Partial<NodeLimits>
  readonly logger?: Logger
  readonly observers?: readonly Partial<NodeObserver>[]
  readonly clock?: Clock
}

/** Who hears of new operations looks for them this much less often. */
const notifiedPollFactor = 5
/** A node that has recorded results so shortly ago is delivering. */
const busyForMs = 250

/** One process that dispatches deliveries. */
export class Node {
  readonly #options: NodeOptions
  readonly #limits: NodeLimits
  readonly #logger: Logger
  readonly #observer: Required<NodeObserver>
  readonly #tail: Tail
  readonly #clock: Clock
  readonly #databaseClock: DatabaseClock
  readonly #lanes: LaneTable
  readonly #shapes: ShapeTable
  readonly #settings: NodeSettings
  readonly #notices: Notices
  readonly #settler: Settler
  readonly #careful: CarefulMode
  readonly #dispatcher: Dispatcher
  readonly #reader: Reader
  readonly #arrivals: Arrivals
  readonly #ownMessages: OwnMessages
  readonly #loop: WorkLoop
  readonly #membership: Membership
  readonly #handOver: HandOver
  readonly #notifications: Notifications
  readonly #background: Background
  readonly #sweeper: Sweeper
  readonly #housekeeping: Housekeeping
  readonly #operations: OperationRunner
  readonly #counter: LaneCounter
  readonly #refresher: LaneRefresher
  readonly #holds: LaneHolds
  readonly #inFlightNotes: InFlightNotes
  #isStopping = false
  #started: Promise<void> | null = null
  #stopped: Promise<void> | null = null
  #upkeeping: Promise<void> | null = null

  constructor(options: NodeOptions) {
    this.#options = options
    this.#limits = { ...defaultLimits, ...options.limits }
    this.#logger = options.logger ?? silentLogger
    this.#background = new Background(this.#logger)
    this.#tail = new Tail({ publish: (payload) => notifyAttempts(options.controlDatabase, payload) })
    this.#clock = options.clock ?? systemClock
    this.#databaseClock = new DatabaseClock(this.#clock)
    this.#settings = new NodeSettings({ database: options.controlDatabase, logger: this.#logger })
    this.#housekeeping = new Housekeeping({
      settings: options,
      siteSettings: this.#settings,
      limits: this.#limits,
      logger: this.#logger,
      clock: this.#clock,
      databaseClock: this.#databaseClock,
      incarnation: () => this.#membership.incarnation,
      epochOf: (shard) => (this.#mayWork() ? this.#membership.epochOf(shard) : undefined),
      isFenced: () => this.#membership.isFenced,
    })
    this.#observer = combineObservers([
      logAttempts(this.#logger),
      this.#tail,
      ...this.#housekeeping.observers,
      ...(options.observers ?? []),
    ])
    const { database, controlDatabase, transports } = options
    const shared = {
      database,
      transports,
      clock: this.#clock,
      databaseClock: this.#databaseClock,
      limits: this.#limits,
      logger: this.#logger,
      observer: this.#observer,
      incarnation: () => this.#membership.incarnation,
      requestRead: (lane: Lane) => this.#loop.requestRead(lane),
      wakeAt: (lane: Lane, atMs: number) => this.#loop.wakeAt(lane, atMs),
    }
    this.#lanes = new LaneTable({
      database: controlDatabase,
      clock: this.#clock,
      epochOf: (shard) => this.#membership.epochOf(shard),
      isLeaving: (shard) => this.#membership.isLeaving(shard),
      cursor: () => this.#arrivals.cursor,
      rejectingThreshold: () => this.#settings.rejectingThreshold,
      onChanged: (lane) => this.#laneChanged(lane),
      onCircuitChanged: (lane) => this.#observer.circuitChanged(lane.name, lane.breaker.state),
      onReplaced: (channel) => void channel.close().catch((error: unknown) => this.#background.report(error)),
    })
    this.#refresher = new LaneRefresher({
      lanes: this.#lanes,
      isStopping: () => this.#isStopping,
      report: (error) => this.#background.report(error),
    })
    this.#holds = new LaneHolds({
      ...shared,
      database: controlDatabase,
      tolerate: (work) => this.#background.tolerate(work),
    })
    this.#inFlightNotes = new InFlightNotes({
      database: controlDatabase,
      incarnation: () => this.#membership.incarnation,
      list: (maxEntries) => this.#dispatcher.listInFlight(maxEntries),
      report: (error) => this.#logger.debug({ error: String(error) }, 'What is in flight could not be noted'),
    })
    this.#shapes = new ShapeTable({
      database: controlDatabase,
      transforms: options.transforms,
      keyring: options.transports.keyring,
    })
    this.#notices = new Notices(controlDatabase)
    this.#settler = new Settler({
      ...shared,
      inFlight: () => this.#dispatcher.inFlight,
      takeTally: (lane) => this.#settlement.takeTally(lane),
      onSuccessesSettled: (records) => this.#settlement.successesSettled(records),
      onFailuresSettled: (settled) => this.#settlement.failuresSettled(settled),
      onTalliesSettled: (lanes, changed) => {
        for (const lane of lanes) lane.health.tallySettled(this.#clock.monotonicMs())
        this.#settlement.talliesSettled(lanes, changed)
      },
      onQuarantined: (record) => this.#settlement.quarantined(record),
    })
    this.#careful = new CarefulMode({
      ...shared,
      start: (delivery) => this.#dispatcher.start(delivery),
      release: (delivery) => {
        this.#dispatcher.release(delivery)
        this.#loop.requestRead(delivery.lane)
      },
    })
    this.#dispatcher = new Dispatcher({
      ...shared,
      sender: new (isTracing() ? TracedSender : AttemptSender)(
        new Renderer(this.#shapes),
        this.#databaseClock,
      ),
      settler: this.#settler,
      careful: this.#careful,
      mayStart: () => this.#mayWork(),
      begun: () => this.#inFlightNotes.begun(),
      currentLane: (lane) => this.#lanes.get(lane.id),
      refresh: (lane) => this.#refresher.refresh([lane]),
      holdLane: (lane, reason) => this.#holds.hold(lane, reason),
    })
    this.#reader = new Reader({
      ...shared,
      lanes: this.#lanes,
      dispatcher: this.#dispatcher,
      shapes: this.#shapes,
      cursor: () => this.#arrivals.cursor,
    })
    this.#arrivals = new Arrivals({
      ...shared,
      lanes: this.#lanes,
      reader: this.#reader,
      shards: () => this.#membership.shards(),
      isOurs: (laneId) => this.#membership.epochOf(laneId & 255) !== undefined,
      onArrived: (lane) => this.#dispatcher.pump(lane),
      onPassed: (cursor) => this.#ownMessages.passed(cursor),
      onNewLife: () => this.#startAnew(),
    })
    this.#ownMessages = new OwnMessages({
      lanes: this.#lanes,
      reader: this.#reader,
      dispatcher: this.#dispatcher,
      cursor: () => this.#arrivals.cursor,
      isAtRest: () => this.#mayWork() && this.#loop.isAtRest,
      ring: () => this.#loop.ringAsleep(),
    })
    this.#loop = new WorkLoop({
      ...shared,
      arrivals: this.#arrivals,
      reader: this.#reader,
      dispatcher: this.#dispatcher,
      lanes: this.#lanes,
      mayWork: () => this.#mayWork(),
      canBeRung: () => this.#notifications.isConnected,
    })
    this.#settlement = new Settlement({
      ...shared,
      lanes: this.#lanes,
      reader: this.#reader,
      dispatcher: this.#dispatcher,
      careful: this.#careful,
      refresh: (lanes) => this.#refresher.refresh(lanes),
      isFenced: () => this.#membership.isFenced,
      tellFreedKeys: (freed) => void this.#background.tolerate(tellFreedKeys(controlDatabase, freed)),
    })
    this.#sweeper = new Sweeper({
      ...shared,
      database: controlDatabase,
      lanes: this.#lanes,
      dispatcher: this.#dispatcher,
      reader: this.#reader,
      nodeName: options.name,
      exclusively: (task) => this.#loop.exclusively(task),
      mayWork: () => this.#mayWork(),
      onSettled: (settled) => this.#settlement.failuresSettled(settled),
      recount: (lane) => this.#recount(lane),
    })
    this.#counter = new LaneCounter({
      count: (lane) => this.#lanes.recount(lane),
      tolerate: (work) => this.#background.tolerate(work),
    })
    this.#operations = new OperationRunner({
      database: options.operationsDatabase,
      logger: this.#logger,
      nodeName: options.name,
      mayWork: () => this.#mayWork(),
      isBusy: () => this.#clock.monotonicMs() - this.#settler.lastBatchMs < busyForMs,
      pollMs: () => this.#limits.slowPollMs * (this.#notifications.isConnected ? notifiedPollFactor : 1),
    })
    this.#handOver = new HandOver({ ...shared, lanes: this.#lanes, dispatcher: this.#dispatcher })
    this.#notifications = new Notifications({
      listenUrl: options.listenUrl,
      lanes: this.#lanes,
      refresher: this.#refresher,
      shapes: this.#shapes,
      notices: this.#notices,
      loop: this.#loop,
      operations: this.#operations,
      tail: this.#tail,
      logger: this.#logger,
      onAlertsDue: () => void this.#background.tolerate(this.#housekeeping.tick()),
      onSettingChanged: () => void this.#background.tolerate(this.#readSettings()),
      recount: (lane) => this.#recount(lane),
      readmit: (lane) => this.#reader.readmit(lane.id),
      report: (error) => this.#background.report(error),
    })
    this.#membership = new Membership({
      ...shared,
      database: controlDatabase,
      beatDatabase: options.beatDatabase,
      name: options.name,
      version: options.version,
      isNameExclusive: options.isNameExclusive ?? false,
      owed: () => this.#lanes.owed,
      watermarks: () => ({
        lanes: this.#lanes.watermark,
        shapes: this.#shapes.watermark,
        notices: this.#notices.watermark,
      }),
      onBeat: (result) => this.#startUpkeep(result),
      onRegistered: (incarnation) => this.#notifications.listenAs(incarnation),
      onTaken: (shards, from) => this.#loop.exclusively(() => this.#shardsTaken(shards, from)),
      onInterrupted: (count) => this.#observer.interrupted('delivery', count),
      drain: (shards, letGo) => this.#handOver.drain(shards, letGo),
      onLost: (shards) => this.#dropShards(shards, 'lost'),
      onKept: (shards) => this.#handOver.keep(shards),
      onReleased: (shards) => this.#dropShards(shards, 'released'),
      onFenced: () => this.#fence(),
      onResumed: () => this.#resume(),
      onClockSteppedBack: () => this.#waitAnew(),
    })
  }

  readonly #settlement: Settlement

  get incarnation(): number {
    return this.#membership.incarnation
  }

  get inFlight(): number {
    return this.#dispatcher.inFlight
  }

  get isFenced(): boolean {
    return this.#membership.isFenced
  }

  /** The shards that this node owns. */
  get shards(): readonly number[] {
    return this.#membership.shards() ?? Array.from({ length: 256 }, (_, shard) => shard)
  }

  /** Takes a message that this process has just committed for a lane of ours, and rang nobody for; after its publisher has heard of it. */
  take(message: OwnMessage): void {
    setImmediate(() => {
      try {
        this.#ownMessages.take(message)
      } catch (error) {
        this.#background.report(error)
        this.#loop.ring()
      }
    })
  }

  /** This process has changed an endpoint: what it sends next must find the lane as it is now. */
  endpointChanged(name: string): void {
    for (const lane of this.#lanes.all()) if (lane.name === name) this.#notifications.laneChanged(lane)
  }

  /** This process has stored something, or may have: nobody else says so. */
  ring(): void {
    this.#loop.ringAsleep()
  }

  start(): Promise<void> {
    this.#started ??= this.#start()
    return this.#started
  }

  /** Stops reading, lets what is in flight finish, settles it, and hands the shards over. */
  stop(): Promise<void> {
    this.#stopped ??= this.#stop()
    return this.#stopped
  }

  async #start(): Promise<void> {
    await this.#arrivals.open()
    await this.#notices.open()
    await this.#lanes.readChanges()
    await this.#settings.read()
    this.#loop.start()
    await this.#membership.start()
    await this.#pinSettings()
    this.#background.every(this.#limits.sweepMs, () => this.#sweeper.sweep())
    this.#background.every(this.#limits.maintenanceMs, () => this.#housekeeping.tick())
    this.#background.every(this.#limits.rollupMs, () => this.#housekeeping.flush())
    this.#operations.start()
  }

  async #stop(): Promise<void> {
    if (this.#started === null) return
    await this.#started.catch(() => {})
    this.#isStopping = true
    this.#membership.beginStop()
    this.#background.stop()
    this.#counter.stop()
    const deadlineMs = this.#clock.monotonicMs() + this.#limits.stopDeadlineMs
    await Promise.all([this.#loop.stop(), this.#housekeeping.stop(), this.#operations.stop()])
    for (const lane of this.#lanes.all()) this.#dispatcher.unread(lane)
    await this.#background.tolerate(markStopping(this.#options.controlDatabase, this.incarnation))
    await this.#background.tolerate(this.#membership.release(this.#handOver.idleOf(this.shards)))
    await this.#handOver.untilIdle(deadlineMs)
    if (this.#dispatcher.inFlight > 0) {
      this.#logger.warn(
        { inFlight: this.#dispatcher.inFlight },
        'The stop deadline passed: aborting attempts',
      )
      for (const lane of this.#lanes.all()) lane.abortInFlight()
    }
    await this.#settledBefore(Math.max(deadlineMs, this.#clock.monotonicMs() + 2000))
    this.#settler.abandon()
    await this.#background.tolerate(this.#housekeeping.flush())
    await this.#inFlightNotes.stop()
    await this.#background.tolerate(this.#membership.stop())
    await this.#upkeeping
    this.#tail.stop()
    await this.#notifications.stop()
    await Promise.all([...this.#lanes.all()].map((lane) => lane.close()))
    await this.#shapes.close()
  }

  #mayWork(): boolean {
    return !this.#isStopping && !this.#membership.isFenced
  }

  async #shardsTaken(taken: readonly TakenShard[], from: number): Promise<void> {
    const shards = taken.map(({ shard }) => shard)
    this.#membership.adopt(taken)
    const lanes = await this.#lanes.load(shards, this.#arrivals.cursor)
    const suspects = new Set(taken.filter(({ isSuspect }) => isSuspect).map(({ shard }) => shard))
    const careful = lanes.filter((lane) => suspects.has(lane.shard))
    for (const lane of careful) {
      const settings = lane.policy(this.#options.transports)?.settings
      // As many as can have been out.
      lane.carefulLeft = (settings?.limits.concurrency ?? 1) * (settings?.batch?.maxMessages ?? 1)
    }
    if (suspects.size > 0) await this.#careful.enter([...suspects], careful)
    this.#observer.shardsTaken(shards, from, this.incarnation)
    for (const lane of lanes) {
      if (lane.wasHeld) this.#holds.review(lane)
      if (lane.pending > 0) this.#dispatcher.pump(lane)
    }
    this.#loop.ring()
    // Whoever has taken the leading shard need not wait for the next look.
    void this.#background.tolerate(this.#housekeeping.tick())
  }

  #dropShards(shards: readonly number[], how: 'lost' | 'released'): void {
    for (const lane of this.#lanes.drop(new Set(shards))) {
      this.#dispatcher.unread(lane)
      void lane.close().catch((error: unknown) => this.#background.report(error))
    }
    if (how === 'released') this.#observer.shardsReleased(shards)
  }

  /** Others may take over any moment: nothing of ours may go on. What was delivered stays a fact and is recorded when it can be. */
  #fence(): void {
    for (const lane of this.#lanes.all()) {
      this.#dispatcher.unread(lane)
      lane.abortInFlight()
    }
    this.#observer.fenced()
  }

  #resume(): void {
    for (const lane of this.#lanes.all()) {
      lane.rewindAll()
      this.#dispatcher.pump(lane)
    }
    this.#observer.resumed()
    this.#loop.ring()
  }

  /**
   * The server begins a new life. What was read and not started may be gone, what was settled may be owed again, and what is in flight counts when its
   * result comes in, as a fact that must match the row of its id, lane and message.
   */
  #startAnew(): void {
    this.#logger.warn({}, 'The database has restarted, recovered or failed over: everything is read anew')
    for (const lane of this.#lanes.all()) this.#dispatcher.unread(lane)
    this.#reader.readmitAll()
    this.#loop.reset()
    void this.#background.tolerate(this.#loop.exclusively(() => this.#lanes.recountAll(this.shards)))
  }

  #waitAnew(): void {
    for (const lane of this.#lanes.all()) {
      lane.waitAnew()
      if (lane.pending > 0 || lane.known > 0 || lane.nextDueAtMs === 0) this.#dispatcher.pump(lane)
    }
  }

  #laneChanged(lane: Lane): void {
    if (lane.policy(this.#options.transports) !== null) this.#holds.clear(lane)
    this.#dispatcher.pump(lane)
  }

  #pinnedAs = 0

  /** Pins go with an incarnation: the next one makes them anew. */
  async #pinSettings(): Promise<void> {
    const { incarnation } = this
    const { controlDatabase, pins = [] } = this.#options
    if (pins.length > 0) {
      await pinSettings(controlDatabase, incarnation, pins)
      await this.#readSettings()
    }
    this.#pinnedAs = incarnation
  }

  /** The leading node looks at once whether its tasks are still due when they were. */
  async #readSettings(): Promise<void> {
    await this.#settings.read()
    await this.#housekeeping.tick()
  }

  /** What was ended may have been read already: the line is put back and read anew. Many requests are one. */
  #recount(lane: Lane): void {
    if (this.#recounting.has(lane)) return
    this.#recounting.add(lane)
    const restart = this.#loop.exclusively(async () => {
      this.#recounting.delete(lane)
      this.#dispatcher.unread(lane)
      this.#lanes.restart(lane)
      this.#counter.request(lane)
    })
    void this.#background.tolerate(restart)
  }

  readonly #recounting = new Set<Lane>()

  /** Apart from the beats, which wait for nothing. What this one leaves out, because the last is still at it, the next beat says again. */
  #startUpkeep(result: BeatResult): void {
    this.#upkeeping ??= this.#background.tolerate(this.#upkeep(result)).finally(() => {
      this.#upkeeping = null
    })
  }

  async #upkeep({ life, haveLanesChanged, haveShapesChanged, hasNotices }: BeatResult): Promise<void> {
    if (!this.#mayWork()) return
    // A node that sleeps doesn't look at arrivals, which would tell it.
    if (life !== this.#arrivals.life) this.#loop.ring()
    if (this.#pinnedAs !== this.incarnation) await this.#pinSettings()
    if (hasNotices) await this.#notifications.readNotices()
    if (haveLanesChanged) await this.#lanes.readChanges()
    if (haveShapesChanged || this.#shapes.checksSchemas) await this.#shapes.readChanges()
    const reports = this.#lanes.takeReports()
    if (reports.length > 0) await reportLanes(this.#options.controlDatabase, reports)
  }

  async #settledBefore(deadlineMs: number): Promise<void> {
    let timer: NodeJS.Timeout | undefined
    const expired = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, deadlineMs - this.#clock.monotonicMs())
    })
    await Promise.race([this.#settler.drained(), expired])
    // A timer left behind would keep the whole process alive until then.
    clearTimeout(timer)
  }
}
