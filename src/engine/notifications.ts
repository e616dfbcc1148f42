import { Listener } from '../postgres/listener.ts'
import { tailWantedChannel } from '../storage/tail.ts'
import type { Lane } from './lane.ts'
import type { LaneRefresher } from './lane-refresher.ts'
import type { LaneTable } from './lane-table.ts'
import type { Logger } from './logger.ts'
import type { Notices } from './notices.ts'
import type { OperationRunner } from './operations/operation-runner.ts'
import type { ShapeTable } from './shape-table.ts'
import type { Tail } from './tail.ts'
import type { WorkLoop } from './work-loop.ts'

export interface NotificationsOptions {
  /** Null behind a transaction-pooling proxy: then only notices are received. */
  readonly listenUrl: string | null
  readonly lanes: LaneTable
  readonly refresher: LaneRefresher
  readonly shapes: ShapeTable
  readonly notices: Notices
  readonly loop: WorkLoop
  readonly operations: OperationRunner
  readonly tail: Tail
  readonly logger: Logger
  /** A site-wide setting has changed. */
  onSettingChanged(): void
  /** A source was created, changed or deleted. */
  onSourcesChanged(): void
  /** The leading node evaluates the alert rules now. */
  onAlertsDue(): void
  /** Deliveries of the lane were ended: count it again, and read it from the beginning. */
  recount(lane: Lane): void
  /** A result of the lane has left quarantine. */
  readmit(lane: Lane): void
  report(error: unknown): void
}

/** Messages from other processes: by notification, and again by notices that are read with the heartbeat. */
export class Notifications {
  readonly #options: NotificationsOptions
  #listener: Listener | null = null

  constructor(options: NotificationsOptions) {
    this.#options = options
  }

  get isConnected(): boolean {
    return this.#listener?.isConnected ?? false
  }

  /** Listens to the channel of this incarnation, and no longer to that of the last one. */
  listenAs(incarnation: number): void {
    const { listenUrl, logger, loop, operations, tail } = this.#options
    void this.#listener?.stop()
    this.#listener = null
    if (listenUrl === null) return
    const ownChannel = `holdfast_node_${incarnation}`
    this.#listener = new Listener({
      connectionString: listenUrl,
      applicationName: 'holdfast-listen',
      channels: [
        ownChannel,
        'holdfast_lanes',
        'holdfast_routes',
        'holdfast_operations',
        'holdfast_settings',
        'holdfast_alerts',
        'holdfast_sources',
        tailWantedChannel,
      ],
      logger,
      onNotification: (channel, payload) => {
        if (channel === ownChannel) loop.ring()
        else if (channel === tailWantedChannel) tail.wanted(Number(payload))
        else this.#told(channel, payload)
      },
      onReconnect: () => {
        loop.ring()
        operations.wake()
      },
    })
    void this.#listener.start().catch((error: unknown) => this.#options.report(error))
    loop.reset()
  }

  async readNotices(): Promise<void> {
    for (const { channel, payload } of await this.#options.notices.read()) this.#told(channel, payload)
  }

  async stop(): Promise<void> {
    await this.#listener?.stop()
  }

  /** Handles a message; receiving it twice changes nothing. */
  #told(channel: string, payload: string): void {
    const { operations, shapes } = this.#options
    if (channel === 'holdfast_lanes') this.#laneNotified(payload)
    else if (channel === 'holdfast_routes') shapes.forgetRoute(Number(payload))
    else if (channel === 'holdfast_operations') operations.wake()
    else if (channel === 'holdfast_settings') this.#options.onSettingChanged()
    else if (channel === 'holdfast_alerts') this.#options.onAlertsDue()
    else if (channel === 'holdfast_sources') this.#options.onSourcesChanged()
  }

  /**
   * The payload is the lane's id, then what happened: `recount` when deliveries were ended, `readmit` when a result has left quarantine, `due` when
   * deliveries were made due now, `free` and a key when a dead letter no longer blocks that key.
   */
  #laneNotified(payload: string): void {
    const { lanes, loop } = this.#options
    const [laneId, request, ...rest] = payload.split(' ')
    const lane = lanes.get(Number(laneId))
    if (lane === undefined) return
    if (request === 'due' || request === 'free') {
      if (request === 'due') lane.reading.schedule.rewind()
      else lane.reading.freeKey(rest.join(' '))
      loop.requestRead(lane)
      return
    }
    if (request === 'readmit') this.#options.readmit(lane)
    if (request === 'recount' || request === 'readmit') this.#options.recount(lane)
    this.laneChanged(lane)
  }

  /** A delivery that arrives after a pause must find the lane paused: nothing starts until the change has been read. */
  laneChanged(lane: Lane): void {
    this.#options.lanes.noteChanged(lane)
    this.#options.refresher.refresh([lane])
  }
}
