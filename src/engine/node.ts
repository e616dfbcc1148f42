import { isTracing } from '../observe/tracing.ts'
import { isTransientError } from '../postgres/connection-error.ts'
import { Listener } from '../postgres/listener.ts'
import type { Database } from '../storage/database.ts'
import { type BeatResult, markStopping, type TakenShard } from '../storage/nodes.ts'
import { reportLanes } from '../storage/read-lanes.ts'
import { notifyAttempts, tailWantedChannel } from '../storage/tail.ts'
import type { TransformRegistry } from '../transforms/registry.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import { Arrivals } from './arrivals.ts'
import { AttemptSender } from './attempt-sender.ts'
import { CarefulMode } from './careful-mode.ts'
import { type Clock, DatabaseClock, systemClock } from './clock.ts'
import { Dispatcher } from './dispatcher.ts'
import { Housekeeping, type HousekeepingSettings } from './housekeeping.ts'
import type { Lane } from './lane.ts'
import { LaneHolds } from './lane-holds.ts'
import { LaneRefresher } from './lane-refresher.ts'
import { LaneTable } from './lane-table.ts'
import { defaultLimits, type NodeLimits } from './limits.ts'
import { logAttempts } from './log-attempts.ts'
import { type Logger, silentLogger } from './logger.ts'
import { Membership } from './membership.ts'
import { Notices } from './notices.ts'
import { combineObservers, type NodeObserver } from './observer.ts'
import { OperationRunner } from './operations/operation-runner.ts'
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
  readonly limits?: Partial<NodeLimits>
  readonly logger?: Logger
  readonly observers?: readonly Partial<NodeObserver>[]
  readonly clock?: Clock
}

/** Who hears of new operations looks for them this much less often. */
const notifiedPollFactor = 5

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
  readonly #notices: Notices
  readonly #settler: Settler
  readonly #careful: CarefulMode
  readonly #dispatcher: Dispatcher
  readonly #reader: Reader
  readonly #arrivals: Arrivals
  readonly #loop: WorkLoop
  readonly #membership: Membership
  readonly #sweeper: Sweeper
  readonly #housekeeping: Housekeeping
  readonly #operations: OperationRunner
  readonly #refresher: LaneRefresher
  readonly #holds: LaneHolds
  #listener: Listener | null = null
  #isStopping = false
  #started: Promise<void> | null = null
  #stopped: Promise<void> | null = null
  #upkeeping: Promise<void> | null = null
  readonly #timers: NodeJS.Timeout[] = []

  constructor(options: NodeOptions) {
    this.#options = options
    this.#limits = { ...defaultLimits, ...options.limits }
    this.#logger = options.logger ?? silentLogger
    this.#tail = new Tail({ publish: (payload) => notifyAttempts(options.controlDatabase, payload) })
    this.#clock = options.clock ?? systemClock
    this.#databaseClock = new DatabaseClock(this.#clock)
    this.#housekeeping = new Housekeeping({
      settings: options,
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
      onChanged: (lane) => this.#laneChanged(lane),
      onCircuitChanged: (lane) => this.#observer.circuitChanged(lane.name, lane.breaker.state),
      onReplaced: (channel) => void channel.close().catch((error: unknown) => this.#report(error)),
    })
    this.#refresher = new LaneRefresher({
      lanes: this.#lanes,
      isStopping: () => this.#isStopping,
      report: (error) => this.#report(error),
    })
    this.#holds = new LaneHolds({
      ...shared,
      database: controlDatabase,
      tolerate: (work) => this.#tolerate(work),
    })
    this.#shapes = new ShapeTable({ database: controlDatabase, transforms: options.transforms })
    this.#notices = new Notices(controlDatabase)
    this.#settler = new Settler({
      ...shared,
      takeRun: (lane) => this.#settlement.takeRun(lane),
      onSuccessesSettled: (records) => this.#settlement.successesSettled(records),
      onFailuresSettled: (settled) => this.#settlement.failuresSettled(settled),
      onRunsSettled: (lanes, changed) => {
        for (const lane of lanes) lane.health.runSettled(this.#clock.monotonicMs())
        this.#settlement.runsSettled(lanes, changed)
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
    })
    this.#loop = new WorkLoop({
      ...shared,
      arrivals: this.#arrivals,
      reader: this.#reader,
      dispatcher: this.#dispatcher,
      lanes: this.#lanes,
      mayWork: () => this.#mayWork(),
      canBeRung: () => this.#listener?.isConnected ?? false,
    })
    this.#settlement = new Settlement({
      ...shared,
      lanes: this.#lanes,
      reader: this.#reader,
      dispatcher: this.#dispatcher,
      careful: this.#careful,
      refresh: (lanes) => this.#refresher.refresh(lanes),
    })
    this.#sweeper = new Sweeper({
      ...shared,
      database: controlDatabase,
      lanes: this.#lanes,
      dispatcher: this.#dispatcher,
      onSettled: (settled) => this.#settlement.failuresSettled(settled),
      recount: (lane) => this.#recount(lane),
    })
    this.#operations = new OperationRunner({
      database: options.operationsDatabase,
      logger: this.#logger,
      nodeName: options.name,
      mayWork: () => this.#mayWork(),
      pollMs: () => this.#limits.slowPollMs * (this.#listener?.isConnected === true ? notifiedPollFactor : 1),
    })
    this.#membership = new Membership({
      ...shared,
      database: controlDatabase,
      beatDatabase: options.beatDatabase,
      name: options.name,
      version: options.version,
      isNameExclusive: options.isNameExclusive ?? false,
      pending: () => Math.max(0, this.#lanes.pending),
      watermarks: () => ({
        lanes: this.#lanes.watermark,
        shapes: this.#shapes.watermark,
        notices: this.#notices.watermark,
      }),
      onBeat: (result) => this.#startUpkeep(result),
      onRegistered: (incarnation) => this.#registered(incarnation),
      onTaken: (shards, from) => this.#loop.exclusively(() => this.#shardsTaken(shards, from)),
      drain: (shards, letGo) => this.#drain(shards, letGo),
      onLost: (shards) => this.#dropShards(shards, 'lost'),
      onKept: (shards) => this.#keepShards(shards),
      onReleased: (shards) => this.#dropShards(shards, 'released'),
      onFenced: () => this.#fence(),
      onResumed: () => this.#resume(),
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
    this.#loop.start()
    await this.#membership.start()
    this.#every(this.#limits.sweepMs, () => this.#sweeper.sweep())
    this.#every(this.#limits.maintenanceMs, () => this.#housekeeping.tick())
    this.#every(this.#limits.rollupMs, () => this.#housekeeping.flush())
    this.#operations.start()
  }

  async #stop(): Promise<void> {
    if (this.#started === null) return
    await this.#started.catch(() => {})
    this.#isStopping = true
    this.#membership.beginStop()
    for (const timer of this.#timers) clearTimeout(timer)
    const deadlineMs = this.#clock.monotonicMs() + this.#limits.stopDeadlineMs
    await Promise.all([this.#loop.stop(), this.#housekeeping.stop(), this.#operations.stop()])
    for (const lane of this.#lanes.all()) this.#dispatcher.unread(lane)
    await this.#tolerate(markStopping(this.#options.controlDatabase, this.incarnation))
    await this.#tolerate(this.#membership.release(this.#idleShards()))
    await this.#untilIdle(() => [...this.#lanes.all()], deadlineMs)
    if (this.#dispatcher.inFlight > 0) {
      this.#logger.warn(
        { inFlight: this.#dispatcher.inFlight },
        'The stop deadline passed: aborting attempts',
      )
      for (const lane of this.#lanes.all()) lane.abortInFlight()
    }
    await this.#settledBefore(Math.max(deadlineMs, this.#clock.monotonicMs() + 2000))
    this.#settler.abandon()
    await this.#tolerate(this.#housekeeping.flush())
    await this.#tolerate(this.#membership.stop())
    await this.#upkeeping
    this.#tail.stop()
    await this.#listener?.stop()
    await Promise.all([...this.#lanes.all()].map((lane) => lane.close()))
    await this.#shapes.close()
  }

  #mayWork(): boolean {
    return !this.#isStopping && !this.#membership.isFenced
  }

  #registered(incarnation: number): void {
    void this.#listener?.stop()
    this.#listener = null
    if (this.#options.listenUrl === null) return
    const ownChannel = `holdfast_node_${incarnation}`
    this.#listener = new Listener({
      connectionString: this.#options.listenUrl,
      applicationName: 'holdfast-listen',
      channels: [ownChannel, 'holdfast_lanes', 'holdfast_routes', 'holdfast_operations', tailWantedChannel],
      logger: this.#logger,
      onNotification: (channel, payload) => {
        if (channel === ownChannel) this.#loop.ring()
        else if (channel === tailWantedChannel) this.#tail.wanted(Number(payload))
        else this.#told(channel, payload)
      },
      onReconnect: () => {
        this.#loop.ring()
        this.#operations.wake()
      },
    })
    void this.#listener.start().catch((error: unknown) => this.#report(error))
    this.#loop.reset()
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
    void this.#tolerate(this.#housekeeping.tick())
  }

  /** Shard by shard: a lane that a slow receiver holds up must not keep the others from their next owner. */
  async #drain(
    shards: readonly number[],
    letGo: (shards: readonly number[]) => Promise<void>,
  ): Promise<void> {
    const lanes = shards.flatMap((shard) => this.#lanes.ofShard(shard))
    for (const lane of lanes) {
      lane.isDraining = true
      this.#dispatcher.unread(lane)
    }
    const deadlineMs = this.#clock.monotonicMs() + this.#limits.stopDeadlineMs
    let left = shards
    while (left.length > 0) {
      const busyLanes = lanes.filter((lane) => !lane.isIdle)
      const isOver = this.#clock.monotonicMs() >= deadlineMs
      if (isOver) for (const lane of busyLanes) lane.abortInFlight()
      const busy = new Set(isOver ? [] : busyLanes.map((lane) => lane.shard))
      await letGo(left.filter((shard) => !busy.has(shard)))
      left = left.filter((shard) => busy.has(shard))
      if (left.length > 0) await this.#waitUntil(this.#clock.monotonicMs() + 10)
    }
  }

  #keepShards(shards: readonly number[]): void {
    for (const lane of shards.flatMap((shard) => this.#lanes.ofShard(shard))) {
      lane.isDraining = false
      this.#dispatcher.pump(lane)
    }
  }

  #dropShards(shards: readonly number[], how: 'lost' | 'released'): void {
    for (const lane of this.#lanes.drop(new Set(shards))) {
      this.#dispatcher.unread(lane)
      void lane.close().catch((error: unknown) => this.#report(error))
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

  #laneChanged(lane: Lane): void {
    if (lane.policy(this.#options.transports) !== null) this.#holds.clear(lane)
    this.#dispatcher.pump(lane)
  }

  /** By notification, and once more by a notice that is read with the beat: hearing it twice changes nothing. */
  #told(channel: string, payload: string): void {
    if (channel === 'holdfast_lanes') this.#laneNotified(payload)
    else if (channel === 'holdfast_routes') this.#shapes.forgetRoute(Number(payload))
    else if (channel === 'holdfast_operations') this.#operations.wake()
  }

  /**
   * The payload is the lane's id, then what somebody else did to it: `recount` when deliveries were ended, `due` when they were
   * hurried, `free` and a key when a letter no longer blocks it.
   */
  #laneNotified(payload: string): void {
    const [laneId, request, ...rest] = payload.split(' ')
    const lane = this.#lanes.get(Number(laneId))
    if (lane === undefined) return
    if (request === 'due' || request === 'free') {
      if (request === 'due') lane.noteScheduled(0)
      else lane.freedKeys.add(rest.join(' '))
      this.#loop.requestRead(lane)
      return
    }
    if (request === 'recount') this.#recount(lane)
    // Whatever comes in after a pause must find the lane paused: nothing starts until the change has been read.
    this.#lanes.noteChanged(lane)
    this.#refresher.refresh([lane])
  }

  /** What was ended may have been read already: the line is put back and read anew. Many requests are one. */
  #recount(lane: Lane): void {
    if (this.#recounting.has(lane)) return
    this.#recounting.add(lane)
    const recount = this.#loop.exclusively(async () => {
      this.#recounting.delete(lane)
      this.#dispatcher.unread(lane)
      await this.#lanes.recount(lane)
    })
    void this.#tolerate(recount)
  }

  readonly #recounting = new Set<Lane>()

  /** Apart from the beats, which wait for nothing. What this one leaves out, because the last is still at it, the next beat says again. */
  #startUpkeep(result: BeatResult): void {
    this.#upkeeping ??= this.#tolerate(this.#upkeep(result)).finally(() => {
      this.#upkeeping = null
    })
  }

  async #upkeep({ haveLanesChanged, haveShapesChanged, hasNotices }: BeatResult): Promise<void> {
    if (!this.#mayWork()) return
    if (hasNotices)
      for (const { channel, payload } of await this.#notices.read()) this.#told(channel, payload)
    if (haveLanesChanged) await this.#lanes.readChanges()
    if (haveShapesChanged || this.#shapes.checksSchemas) await this.#shapes.readChanges()
    const reports = this.#lanes.takeReports()
    if (reports.length > 0) await reportLanes(this.#options.controlDatabase, reports)
  }

  #idleShards(): number[] {
    const busy = new Set([...this.#lanes.all()].filter((lane) => !lane.isIdle).map((lane) => lane.shard))
    return this.shards.filter((shard) => !busy.has(shard))
  }

  async #untilIdle(lanes: () => readonly Lane[], deadlineMs: number): Promise<void> {
    while (this.#clock.monotonicMs() < deadlineMs && lanes().some((lane) => !lane.isIdle)) {
      await this.#waitUntil(this.#clock.monotonicMs() + 10)
    }
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

  async #waitUntil(atMs: number): Promise<void> {
    await new Promise((resolve) => setTimeout(resolve, Math.max(0, atMs - this.#clock.monotonicMs())))
  }

  /** Runs again and again, one run at a time; a failure is logged and the next run comes all the same. */
  #every(intervalMs: number, task: () => Promise<void>): void {
    const place = this.#timers.length
    const next = (): void => {
      if (this.#isStopping) return
      this.#timers[place] = setTimeout(() => {
        void this.#tolerate(task()).finally(next)
      }, intervalMs)
    }
    next()
  }

  async #tolerate(work: Promise<unknown>): Promise<void> {
    try {
      await work
    } catch (error) {
      this.#report(error)
    }
  }

  #report(error: unknown): void {
    const details = { error: error instanceof Error ? (error.stack ?? error.message) : String(error) }
    this.#logger[isTransientError(error) ? 'warn' : 'error'](
      details,
      'Something went wrong; the node goes on',
    )
  }
}
