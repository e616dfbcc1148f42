import { isTracing } from '../observe/tracing.ts'
import type { Database } from '../storage/database.ts'
import type { TakenShard } from '../storage/nodes.ts'
import { type FreedKey, tellFreedKeys } from '../storage/notices.ts'
import type { FailureRecord, SuccessRecord } from '../storage/settle.ts'
import type { TransformRegistry } from '../transforms/registry.ts'
import type { TransportRegistry } from '../transports/registry.ts'
import type { TransportChannel } from '../transports/transport.ts'
import { AfterCommit } from './after-commit.ts'
import { Arrivals } from './arrivals.ts'
import { AttemptSender } from './attempt-sender.ts'
import type { Background } from './background.ts'
import { CarefulMode } from './careful-mode.ts'
import type { Clock, DatabaseClock } from './clock.ts'
import type { Delivery } from './delivery.ts'
import { DeliverySettler, type SettledFailure } from './delivery-settler.ts'
import { Dispatcher } from './dispatcher.ts'
import { InFlightNotes } from './in-flight-notes.ts'
import type { Lane } from './lane.ts'
import { LaneCounter } from './lane-counter.ts'
import { LaneHolds } from './lane-holds.ts'
import { LaneRefresher } from './lane-refresher.ts'
import { LaneTable } from './lane-table.ts'
import type { NodeLimits } from './limits.ts'
import type { Logger } from './logger.ts'
import type { Ownership } from './membership.ts'
import type { NodeSettings } from './node-settings.ts'
import type { NodeObserver } from './observer.ts'
import { type OwnMessage, OwnMessages } from './own-messages.ts'
import { Reader } from './reader.ts'
import { Renderer } from './renderer.ts'
import { ShapeTable } from './shape-table.ts'
import { Sweeper } from './sweeper.ts'
import { TracedSender } from './traced-sender.ts'
import { WorkLoop } from './work-loop.ts'

export interface PipelineOptions {
  readonly name: string
  /** For reading and settling. */
  readonly database: Database
  /** For ownership and upkeep. */
  readonly controlDatabase: Database
  readonly transports: TransportRegistry
  readonly transforms: TransformRegistry
  readonly clock: Clock
  readonly databaseClock: DatabaseClock
  readonly limits: NodeLimits
  readonly logger: Logger
  readonly observer: Required<NodeObserver>
  readonly background: Background
  readonly settings: NodeSettings
  readonly ownership: () => Ownership
  /** False while fenced or stopping: nothing new is started. */
  readonly mayWork: () => boolean
  readonly isStopping: () => boolean
  /** True if notifications of publishers reach this node. */
  readonly canBeRung: () => boolean
}

/**
 * The path of a delivery through a node: **read → admit → send → decide → settle**.
 *
 * | step | part | what it does |
 * | --- | --- | --- |
 * | read | `loop`, `arrivals`, `reader` | one loop finds lanes with new deliveries, and reads the next ones with their bodies |
 * | admit | `dispatcher` | adds new deliveries to their lane's line, if no earlier one of their ordering key is in progress |
 * | send | `dispatcher`, `AttemptSender` | starts as many as the lane's gate, limits and batches allow |
 * | decide | `Decider` (`core/delivery/decide`) | decides on each outcome: success, retry, dead, the circuit |
 * | settle | `settler`, `afterCommit` | commits results in batches; then removes them from memory and frees their keys |
 *
 * Each part passes its work to the next one. Feedback to earlier steps (a lane has room, a commit frees a key, a circuit has changed) is wired
 * below, together with its consequences.
 */
export class Pipeline {
  readonly #options: PipelineOptions
  readonly lanes: LaneTable
  readonly refresher: LaneRefresher
  readonly shapes: ShapeTable
  readonly loop: WorkLoop
  readonly arrivals: Arrivals
  readonly reader: Reader
  readonly dispatcher: Dispatcher
  readonly settler: DeliverySettler
  readonly sweeper: Sweeper
  readonly inFlightNotes: InFlightNotes
  readonly #holds: LaneHolds
  readonly #counter: LaneCounter
  readonly #ownMessages: OwnMessages
  readonly #careful: CarefulMode
  readonly #afterCommit: AfterCommit
  /** Lanes to count again when they are read from the beginning. */
  readonly #uncounted = new Set<Lane>()

  constructor(options: PipelineOptions) {
    this.#options = options
    const { controlDatabase, databaseClock, transforms, transports } = options
    const work = { ...options, ...this.#arrows() }
    const control = { ...work, database: controlDatabase }
    // Used by all steps: the lanes that this node owns, and the routes' transforms and schemas.
    const lanes = new LaneTable(control)
    const shapes = new ShapeTable({ database: controlDatabase, transforms, keyring: transports.keyring })
    this.lanes = lanes
    this.shapes = shapes
    this.refresher = new LaneRefresher({ ...work, lanes })
    this.#counter = new LaneCounter(work)
    this.#holds = new LaneHolds(control)
    // The steps, the last one first: each is given the steps to which it passes its work.
    const settler = new DeliverySettler(work)
    const careful = new CarefulMode(work)
    const sender = new (isTracing() ? TracedSender : AttemptSender)(new Renderer(shapes), databaseClock)
    const dispatcher = new Dispatcher({ ...work, sender, settler, careful })
    const reader = new Reader({ ...work, lanes, dispatcher, shapes })
    const arrivals = new Arrivals({ ...work, lanes, reader })
    this.loop = new WorkLoop({ ...work, arrivals, reader, dispatcher, lanes })
    this.#ownMessages = new OwnMessages({ ...work, lanes, reader, dispatcher })
    this.#afterCommit = new AfterCommit({ ...work, lanes, reader, dispatcher, careful })
    // Beside the steps: ending expired deliveries, and recording which deliveries are in flight in case this node dies.
    this.sweeper = new Sweeper({ ...control, lanes, reader, dispatcher, nodeName: options.name })
    this.inFlightNotes = new InFlightNotes({ ...control, report: (error) => this.#reportNotes(error) })
    this.settler = settler
    this.#careful = careful
    this.dispatcher = dispatcher
    this.reader = reader
    this.arrivals = arrivals
  }

  /** Which part receives which event, in the order of the steps. */
  #arrows() {
    return {
      ...this.#ownershipArrows(),
      // Read: a lane has room for more deliveries, or one is due at a (database) time.
      requestRead: (lane: Lane) => this.loop.requestRead(lane),
      wakeAt: (lane: Lane, atMs: number) => this.loop.wakeAt(lane, atMs),
      nextWakeMs: (lane: Lane) => this.loop.nextWakeMs(lane),
      exclusively: (task: () => Promise<void>) => this.loop.exclusively(task),
      cursor: () => this.arrivals.cursor,
      onPassed: (cursor: number) => this.#ownMessages.passed(cursor),
      isAtRest: () => this.#options.mayWork() && this.loop.isAtRest,
      ringBeside: () => this.loop.ringBeside(),
      // Admit and send: deliveries can be started, or one was started.
      onArrived: (lane: Lane) => this.dispatcher.pump(lane),
      begun: () => this.inFlightNotes.begun(),
      start: (delivery: Delivery) => this.dispatcher.start(delivery),
      release: (delivery: Delivery) => this.#release(delivery),
      inFlight: () => this.dispatcher.inFlight,
      list: (maxEntries: number) => this.dispatcher.listInFlight(maxEntries),
      // Decide: the effect of a lane's results on its circuit is committed with the next flush.
      takeTally: (lane: Lane) => this.#afterCommit.takeTally(lane),
      // Settle: committed.
      onSuccessesSettled: (records: readonly SuccessRecord[]) => this.#afterCommit.successesSettled(records),
      onFailuresSettled: (settled: readonly SettledFailure[]) => this.#afterCommit.failuresSettled(settled),
      onTalliesSettled: (lanes: readonly Lane[], changed: ReadonlySet<number>) =>
        this.#afterCommit.talliesSettled(lanes, changed),
      onQuarantined: (record: SuccessRecord | FailureRecord) => this.#afterCommit.quarantined(record),
      tellFreedKeys: (freed: readonly FreedKey[]) => this.#tellFreedKeys(freed),
      ...this.#laneArrows(),
    }
  }

  #ownershipArrows() {
    const { ownership } = this.#options
    return {
      incarnation: () => ownership().incarnation,
      shards: () => ownership().shards(),
      epochOf: (shard: number) => ownership().epochOf(shard),
      isLeaving: (shard: number) => ownership().isLeaving(shard),
      isOurs: (laneId: number) => ownership().epochOf(laneId & 255) !== undefined,
      isFenced: () => ownership().isFenced,
      onNewLife: () => this.#startAnew(),
    }
  }

  /** A lane's row, settings or count may have changed. */
  #laneArrows() {
    const { background, observer, settings } = this.#options
    return {
      rejectingThreshold: () => settings.rejectingThreshold,
      currentLane: (lane: Lane) => this.lanes.get(lane.id),
      onChanged: (lane: Lane) => this.#laneChanged(lane),
      // The notice of a cancellation arrives on its own connection, perhaps after the resume has been read.
      onResumed: (lane: Lane) => this.#readAnew(lane),
      onCircuitChanged: (lane: Lane) => observer.circuitChanged(lane.name, lane.breaker.state),
      onReplaced: (channel: TransportChannel) => void background.tolerate(channel.close()),
      refresh: (lanes: readonly Lane[]) => this.refresher.refresh(lanes),
      holdLane: (lane: Lane, reason: string) => this.#holds.hold(lane, reason),
      recount: (lane: Lane) => this.recount(lane),
      count: (lane: Lane) => this.lanes.recount(lane),
      tolerate: (task: Promise<unknown>) => background.tolerate(task),
      report: (error: unknown) => background.report(error),
    }
  }

  async start(): Promise<void> {
    await this.arrivals.open()
    await this.lanes.readChanges()
    this.loop.start()
  }

  /** Stops reading, and returns deliveries that were read and not started. */
  async stopReading(): Promise<void> {
    this.#counter.stop()
    await this.loop.stop()
    this.#unreadAll()
  }

  async close(): Promise<void> {
    await Promise.all([...this.lanes.all()].map((lane) => lane.close()))
    await this.shapes.close()
  }

  /** Takes a message that this process has just committed for one of its lanes without a notification. */
  take(message: OwnMessage): void {
    try {
      this.#ownMessages.take(message)
    } catch (error) {
      this.#options.background.report(error)
      this.loop.ring()
    }
  }

  /** Shards were taken: loads their lanes, while no read is in progress. Those of a node that died start in careful mode. */
  async takeShards(taken: readonly TakenShard[], from: number): Promise<void> {
    const { observer, ownership, transports } = this.#options
    const shards = taken.map(({ shard }) => shard)
    const lanes = await this.lanes.load(shards, this.arrivals.cursor)
    const suspects = new Set(taken.filter(({ isSuspect }) => isSuspect).map(({ shard }) => shard))
    const careful = lanes.filter((lane) => suspects.has(lane.shard))
    if (suspects.size > 0) {
      await this.#careful.enter(
        [...suspects],
        careful.map((lane) => ({ lane, maxOut: lane.maxOut(transports) })),
      )
    }
    observer.shardsTaken(shards, from, ownership().incarnation)
    for (const lane of lanes) {
      if (lane.wasHeld) this.#holds.review(lane)
      if (lane.pending > 0) this.dispatcher.pump(lane)
    }
    this.loop.takenOver()
  }

  dropShards(shards: readonly number[]): void {
    for (const lane of this.lanes.drop(new Set(shards))) {
      this.dispatcher.unread(lane)
      void this.#options.background.tolerate(lane.close())
    }
  }

  /** Other nodes may take over at any moment: all work stops. Successes are still recorded when possible. */
  fence(): void {
    this.#unreadAll()
    this.abortInFlight()
  }

  abortInFlight(): void {
    for (const lane of this.lanes.all()) lane.abortInFlight()
  }

  resume(): void {
    for (const lane of this.lanes.all()) {
      lane.reading.rewindAll()
      this.dispatcher.pump(lane)
    }
    this.loop.ring()
  }

  /** The database's clock has stepped back: scheduled deliveries would wait longer by the step. */
  waitAnew(): void {
    for (const lane of this.lanes.all()) {
      lane.reading.schedule.waitAnew()
      this.dispatcher.gatherAnew(lane)
      if (lane.pending > 0 || lane.known > 0 || lane.reading.schedule.nextDueAtMs === 0)
        this.dispatcher.pump(lane)
    }
  }

  /** Other processes have ended deliveries of the lane: it is read and counted again. */
  recount(lane: Lane): void {
    this.#uncounted.add(lane)
    this.#readAnew(lane)
  }

  /** Reads the lane from the beginning, after a read in progress has ended; starts nothing until then. Concurrent requests share one read. */
  #readAnew(lane: Lane): void {
    if (lane.isRestarting) return
    lane.isRestarting = true
    const restart = this.loop.exclusively(async () => {
      lane.isRestarting = false
      this.dispatcher.unread(lane)
      this.lanes.restart(lane)
      if (this.#uncounted.delete(lane)) this.#counter.request(lane)
    })
    void this.#options.background.tolerate(restart)
  }

  /**
   * The database server was restarted, or another one has taken over. Deliveries that were read and not started may not exist, settled ones may be pending again, and results of
   * attempts in flight are recorded only if they match the row of their id, lane and message.
   */
  #startAnew(): void {
    const { background, logger, ownership } = this.#options
    logger.warn({}, 'The database has restarted, recovered or failed over; reading all state again')
    this.#unreadAll()
    this.reader.readmitAll()
    this.loop.reset()
    const shards = ownership().shards() ?? Array.from({ length: 256 }, (_, shard) => shard)
    void background.tolerate(this.loop.exclusively(() => this.lanes.recountAll(shards)))
  }

  #unreadAll(): void {
    for (const lane of this.lanes.all()) this.dispatcher.unread(lane)
  }

  #laneChanged(lane: Lane): void {
    if (lane.policy(this.#options.transports) !== null) this.#holds.clear(lane)
    this.dispatcher.pump(lane)
  }

  #release(delivery: Delivery): void {
    this.dispatcher.release(delivery)
    this.loop.requestRead(delivery.lane)
  }

  #tellFreedKeys(freed: readonly FreedKey[]): void {
    void this.#options.background.tolerate(tellFreedKeys(this.#options.controlDatabase, freed))
  }

  #reportNotes(error: unknown): void {
    this.#options.logger.debug(
      { error: String(error) },
      'The list of deliveries in flight could not be written',
    )
  }
}
