import { hostname } from 'node:os'
import type { Logger } from '../engine/logger.ts'
import { isTransientError } from '../postgres/connection-error.ts'
import { Listener } from '../postgres/listener.ts'
import type { Database } from '../storage/database.ts'
import { registerWorker, setWorkerQueues } from '../storage/workers.ts'
import { version } from '../version.ts'
import { Heartbeat, type HeartbeatOptions } from './heartbeat.ts'
import type { WorkerLimits } from './worker-limits.ts'

export interface PresenceOptions {
  readonly database: Database
  readonly databaseUrl: string
  /** Null: no notification gets through. */
  readonly listenUrl: string | null
  readonly name: string
  readonly tags: readonly string[]
  readonly concurrency: number
  readonly limits: WorkerLimits
  readonly logger: Logger
  /** There may be runs for us. */
  readonly onRing: () => void
  readonly onJobsChanged: () => void
  readonly onBeat: HeartbeatOptions['onBeat']
  readonly onRecovered: HeartbeatOptions['onRecovered']
  /** We are this incarnation now, and nobody knows it yet. */
  readonly onJoined: (incarnation: number) => void
}

/** How a worker is known to others: its registration, the queues that it takes from, its heartbeat, and the bell that it hears. */
export class Presence {
  readonly #options: PresenceOptions
  #incarnation = 0
  #queueNames: readonly string[] = []
  #laneIds: readonly number[] = []
  #heartbeat: Heartbeat | null = null
  #listener: Listener | null = null

  constructor(options: PresenceOptions) {
    this.#options = options
  }

  get incarnation(): number {
    return this.#incarnation
  }

  get queueNames(): readonly string[] {
    return this.#queueNames
  }

  get laneIds(): readonly number[] {
    return this.#laneIds
  }

  /** Whether so much of the lease is over that somebody else may soon have our runs. */
  get isFenced(): boolean {
    return this.#heartbeat?.isFenced ?? false
  }

  get canBeRung(): boolean {
    return this.#listener?.isConnected ?? false
  }

  set running(count: number) {
    if (this.#heartbeat !== null) this.#heartbeat.running = count
  }

  async join(queueNames: readonly string[]): Promise<void> {
    const { database, name, tags, concurrency, limits, onJoined } = this.#options
    const registered = await registerWorker(database, {
      name,
      version,
      host: hostname(),
      pid: process.pid,
      queues: queueNames,
      tags,
      concurrency,
      leaseMs: limits.leaseMs,
    })
    this.#queueNames = queueNames
    this.#incarnation = registered.incarnation
    this.#laneIds = registered.laneIds
    onJoined(registered.incarnation)
    this.#startHeartbeat()
    await this.#listen()
  }

  /** As a new incarnation; tries until the database is there, or it is stopped. */
  async joinAgain(isStopping: () => boolean): Promise<void> {
    await this.#heartbeat?.stop()
    this.#heartbeat = null
    for (let backoffMs = 50; !isStopping(); backoffMs = Math.min(backoffMs * 2, 1000)) {
      try {
        await this.join(this.#queueNames)
        return
      } catch (error) {
        if (!isTransientError(error)) throw error
        await new Promise((resolve) => setTimeout(resolve, backoffMs))
      }
    }
  }

  /** Takes from these queues from now on. */
  async takeFrom(queueNames: readonly string[]): Promise<void> {
    this.#laneIds = await setWorkerQueues(this.#options.database, this.#incarnation, queueNames)
    this.#queueNames = queueNames
    await this.#listen()
  }

  async leave(): Promise<void> {
    await this.#heartbeat?.stop()
    await this.#listener?.stop()
  }

  #startHeartbeat(): void {
    const { databaseUrl, limits, logger, onBeat, onRecovered } = this.#options
    this.#heartbeat = new Heartbeat({
      databaseUrl,
      incarnation: this.#incarnation,
      heartbeatMs: limits.heartbeatMs,
      leaseMs: limits.leaseMs,
      logger,
      onBeat,
      onRecovered,
    })
    this.#heartbeat.start()
  }

  async #listen(): Promise<void> {
    await this.#listener?.stop()
    const { listenUrl, logger, onRing, onJobsChanged } = this.#options
    if (listenUrl === null) return
    const own = `holdfast_worker_${this.#incarnation}`
    this.#listener = new Listener({
      connectionString: listenUrl,
      channels: [own, 'holdfast_jobs', ...this.#laneIds.map((laneId) => `holdfast_queue_${laneId}`)],
      applicationName: 'holdfast-worker-listener',
      logger,
      onNotification: (channel) => {
        if (channel === 'holdfast_jobs') onJobsChanged()
        else if (channel === own) this.#heartbeat?.beatNow()
        else onRing()
      },
      onReconnect: onRing,
    })
    await this.#listener.start()
  }
}
