import { hostname } from 'node:os'
import { isTransientError } from '../postgres/connection-error.ts'
import { Listener } from '../postgres/listener.ts'
import type { Database } from '../storage/database.ts'
import { declareJobs, readQueuesOfJobs } from '../storage/jobs.ts'
import { tailWantedChannel } from '../storage/tail.ts'
import {
  buryWorker,
  markWorkerStopping,
  readWorkerBeats,
  registerWorker,
  retireWorker,
  setWorkerJobs,
  setWorkerQueues,
  type WorkerJobs,
} from '../storage/workers.ts'
import { version } from '../version.ts'
import { Heartbeat } from './heartbeat.ts'
import type { PresenceOptions, WorkerPresence } from './link/worker-link.ts'

export interface PostgresPresenceOptions extends PresenceOptions {
  readonly database: Database
  readonly databaseUrl: string
  /** Null: notifications can't reach this process. */
  readonly listenUrl: string | null
}

/** A worker's registration in PostgreSQL: the queues that it claims from, its heartbeat, and the notifications that wake it. */
export class Presence implements WorkerPresence {
  readonly #options: PostgresPresenceOptions
  #incarnation = 0
  #queueNames: readonly string[] = []
  #laneIds: readonly number[] = []
  #jobIds: readonly number[] = []
  #declarations: readonly number[] = []
  #heartbeat: Heartbeat | null = null
  #listener: Listener | null = null

  constructor(options: PostgresPresenceOptions) {
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

  /** The jobs that this worker has handlers for. */
  get jobIds(): readonly number[] {
    return this.#jobIds
  }

  async join(former: ReadonlySet<number>): Promise<void> {
    await this.#buryPredecessors(former)
    await this.#declareJobs()
    const names = this.#options.queues ?? (await this.#readQueues())
    await this.#register(names.length === 0 ? ['default'] : names)
  }

  /** Declares a deleted job again, with a new id. */
  async refreshJobs(mayMove: () => boolean): Promise<boolean> {
    await this.#renewJobs()
    if (this.#options.queues !== null) return false
    const names = await this.#readQueues()
    const isSame =
      names.length === this.#queueNames.length && names.every((name) => this.#queueNames.includes(name))
    if (isSame || names.length === 0 || !mayMove()) return false
    this.#laneIds = await setWorkerQueues(this.#options.database, this.#incarnation, names)
    this.#queueNames = names
    await this.#listen()
    return true
  }

  /** Declares the settings of the worker's jobs; they apply unless workers of a newer deployment are alive. */
  async #declareJobs(): Promise<void> {
    const { database, jobs } = this.#options
    this.#declarations = await declareJobs(database, jobs)
  }

  #readQueues(): Promise<readonly string[]> {
    const { database, jobNames } = this.#options
    return readQueuesOfJobs(database, jobNames)
  }

  async #renewJobs(): Promise<void> {
    const known = await this.#setJobs()
    if (known.areDeclared) return
    await this.#declareJobs()
    await this.#setJobs()
  }

  /**
   * This process holds the journal's lock, so the workers that wrote the journal before are dead: recover their runs without waiting for their lease.
   */
  async #buryPredecessors(former: ReadonlySet<number>): Promise<void> {
    if (former.size === 0) return
    const { database, onRecovered } = this.#options
    for (const { incarnation, beat } of await readWorkerBeats(database)) {
      if (former.has(incarnation)) onRecovered(await buryWorker(database, incarnation, beat, incarnation))
    }
  }

  async #setJobs(): Promise<WorkerJobs> {
    const { database, jobs } = this.#options
    const names = jobs.map(({ name }) => name)
    const known = await setWorkerJobs(database, this.#incarnation, names, this.#declarations)
    this.#jobIds = known.ids
    return known
  }

  /** Whether the lease is so close to its end that another worker may soon get the runs. */
  get isFenced(): boolean {
    return this.#heartbeat?.isFenced ?? false
  }

  get canBeRung(): boolean {
    return this.#listener?.isConnected ?? false
  }

  set running(count: number) {
    if (this.#heartbeat !== null) this.#heartbeat.running = count
  }

  async #register(queueNames: readonly string[]): Promise<void> {
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
    await this.#renewJobs()
    this.#startHeartbeat()
    await this.#listen()
  }

  async joinAgain(isStopping: () => boolean): Promise<void> {
    await this.#heartbeat?.stop()
    this.#heartbeat = null
    for (let backoffMs = 50; !isStopping(); backoffMs = Math.min(backoffMs * 2, 1000)) {
      try {
        await this.#register(this.#queueNames)
        return
      } catch (error) {
        if (!isTransientError(error)) throw error
        await new Promise((resolve) => setTimeout(resolve, backoffMs))
      }
    }
  }

  async markStopping(): Promise<void> {
    await markWorkerStopping(this.#options.database, this.#incarnation).catch(() => {})
  }

  async leave(): Promise<void> {
    await this.#heartbeat?.stop()
    await this.#listener?.stop()
    if (this.#incarnation === 0) return
    await retireWorker(this.#options.database, this.#incarnation).catch(() => {})
  }

  #startHeartbeat(): void {
    const { databaseUrl, listenUrl, limits, board, endBlockedAfterMs, logger, onBeat, onRecovered } =
      this.#options
    this.#heartbeat = new Heartbeat({
      address: { kind: 'postgres', databaseUrl, ownsSessions: listenUrl !== null },
      incarnation: this.#incarnation,
      heartbeatMs: limits.heartbeatMs,
      leaseMs: limits.leaseMs,
      board,
      blockedLoopMs: limits.blockedLoopMs,
      endBlockedAfterMs,
      logger,
      onBeat,
      onRecovered,
    })
    this.#heartbeat.start()
  }

  async #listen(): Promise<void> {
    await this.#listener?.stop()
    const { listenUrl, logger, onRing, onJobsChanged, onTailWanted } = this.#options
    if (listenUrl === null) return
    const own = `holdfast_worker_${this.#incarnation}`
    this.#listener = new Listener({
      connectionString: listenUrl,
      channels: [
        own,
        'holdfast_jobs',
        tailWantedChannel,
        ...this.#laneIds.map((laneId) => `holdfast_queue_${laneId}`),
      ],
      applicationName: 'holdfast-worker-listener',
      logger,
      onNotification: (channel, payload) => {
        if (channel === 'holdfast_jobs') onJobsChanged()
        else if (channel === tailWantedChannel) onTailWanted(Number(payload))
        else if (channel === own) this.#heartbeat?.beatNow()
        else onRing()
      },
      onReconnect: onRing,
    })
    await this.#listener.start()
  }
}
