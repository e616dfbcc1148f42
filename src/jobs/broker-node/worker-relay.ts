import {
  type BeatsMessage,
  beatsMessage,
  encodeMessage,
  protocolVersion,
  type ResultsMessage,
  readMessage,
} from '../../broker/protocol.ts'
import { sharedQueue, type TopologyOptions, workerQueue } from '../../broker/topology.ts'
import { parseJobSettings } from '../../core/jobs/job-settings.ts'
import type { Logger } from '../../engine/logger.ts'
import { isTransientError } from '../../postgres/connection-error.ts'
import { noteBrokerQueue, readBrokerQueues } from '../../storage/broker-queues.ts'
import { joinBrokerWorker, noteBrokerTick } from '../../storage/broker-workers.ts'
import type { Database } from '../../storage/database.ts'
import { noteInFlight } from '../../storage/in-flight.ts'
import { declareJobs, readQueuesOfJobs } from '../../storage/jobs.ts'
import { readSetting } from '../../storage/settings.ts'
import { recordProgress } from '../../storage/settle-runs.ts'
import { beatWorker, buryWorker, isKnownWorker, setWorkerJobs } from '../../storage/workers.ts'
import type { BrokerLink, Consumed } from './broker-link.ts'
import { LostQueues } from './lost-queues.ts'
import { RecentJoins } from './recent-joins.ts'
import { TopologyMismatch } from './topology-mismatch.ts'

/** If the broker redelivers a join, it does so within seconds. */
const maxRecentJoins = 10_000

export type Join = Extract<ResultsMessage, { readonly kind: 'join' }>

export interface WorkerRelayOptions {
  readonly database: Database
  readonly link: BrokerLink
  readonly topology: TopologyOptions
  readonly logger: Logger
  readonly by: () => number
  readonly onRejected: (consumed: Consumed, problem: string) => Promise<void>
}

/** Relays the registration, heartbeats and progress of broker-mode workers to PostgreSQL. */
export class WorkerRelay {
  readonly #options: WorkerRelayOptions
  /** TTLs of the workers' queues, by worker name. */
  readonly queueTtls = new Map<string, number>()
  /** Answered joins, so that a redelivered join doesn't register a second worker. */
  readonly #joined = new RecentJoins(maxRecentJoins)

  readonly #lostQueues: LostQueues

  constructor(options: WorkerRelayOptions) {
    this.#options = options
    this.#lostQueues = new LostQueues(options)
  }

  /** Reads which queues were declared, also by other nodes. */
  async refresh(): Promise<void> {
    for (const { worker, ttlMs } of await readBrokerQueues(this.#options.database)) {
      if (worker !== null && ttlMs !== null && !this.queueTtls.has(worker)) this.queueTtls.set(worker, ttlMs)
    }
  }

  /** Rejects only if the database or the broker is unavailable. */
  async join(join: Join, replyTo: string | undefined): Promise<void> {
    const { link, logger } = this.#options
    const answer = (message: Parameters<typeof encodeMessage>[0]): void => {
      if (replyTo !== undefined) link.tell(replyTo, encodeMessage(message))
    }
    const problem = joinProblem(join)
    if (problem !== null) {
      logger.warn({ worker: join.name, problem }, 'A worker can not join over the broker')
      answer({ kind: 'refused', joinId: join.joinId, reason: problem })
      return
    }
    const registered = await this.#register(join).catch((error: unknown) => {
      if (!(error instanceof TopologyMismatch)) throw error
      logger.error({ worker: join.name, error: error.message }, 'A worker can not join over the broker')
      answer({ kind: 'refused', joinId: join.joinId, reason: error.message })
      return null
    })
    if (registered === null) return
    const { incarnation, consume } = registered
    answer({ kind: 'joined', joinId: join.joinId, worker: incarnation, consume: [...consume] })
    logger.info({ worker: incarnation, name: join.name }, 'A worker has joined over the broker')
  }

  async #register(join: Join) {
    const { database, by } = this.#options
    const declarations = await declareJobs(database, join.jobs)
    const names = join.jobs.map(({ name }) => name)
    const declared = await readQueuesOfJobs(database, names)
    const queues = join.queues ?? (declared.length === 0 ? ['default'] : declared)
    const gone = await this.#lostQueues.remove(join)
    const consume = await this.#declareQueues(join.name, queues)
    if (gone.length > 0) await this.#lostQueues.returnRuns(gone, join.name, queues)
    for (const former of join.formerWorkers) await buryWorker(database, former, null, by())
    let incarnation = this.#joined.incarnationOf(join.joinId)
    if (join.rejoins !== undefined && (await isKnownWorker(database, join.rejoins)))
      incarnation = join.rejoins
    if (incarnation === undefined) {
      const registered = await joinBrokerWorker(database, {
        ...join,
        queues,
        leaseMs: Math.round(join.leaseMs),
      })
      incarnation = registered.incarnation
      this.#joined.remember(join.joinId, incarnation)
    }
    await setWorkerJobs(database, incarnation, names, declarations)
    return { incarnation, consume }
  }

  async #declareQueues(worker: string, queues: readonly string[]): Promise<readonly string[]> {
    const { database, link, topology } = this.#options
    const consume: string[] = []
    for (const queue of queues) {
      const shared = sharedQueue(topology, queue)
      await noteBrokerQueue(database, shared.name, null, null)
      await link.declare(shared)
      consume.push(shared.name)
    }
    const ttlMs = await readSetting(database, 'worker_queue_ttl_ms')
    const own = workerQueue(topology, worker, ttlMs)
    // Record the queue first: a node that is about to delete it as retired sees the record and keeps the queue.
    await noteBrokerQueue(database, own.name, worker, ttlMs)
    await link.declare(own)
    this.queueTtls.set(worker, ttlMs)
    for (const known of await readBrokerQueues(database)) {
      if (known.worker === worker && known.name !== own.name) consume.push(known.name)
    }
    return [...consume, own.name]
  }

  /** Handles one message of the beats queue. Errors drop the message: senders repeat lost ones. */
  async handleBeat(consumed: Consumed): Promise<void> {
    const { logger, onRejected } = this.#options
    const read = readMessage(beatsMessage, consumed.message.content)
    try {
      if (read.ok) await this.#relay(read.message, consumed.message.properties.replyTo as string | undefined)
      else await onRejected(consumed, read.problem)
    } catch (error) {
      const level = isTransientError(error) ? 'debug' : 'warn'
      logger[level]({ error: String(error) }, 'A beat of a worker could not be relayed')
    }
    consumed.acknowledge()
  }

  async #relay(message: BeatsMessage, replyTo: string | undefined): Promise<void> {
    const { database, link } = this.#options
    switch (message.kind) {
      case 'tick':
        return noteBrokerTick(database, 'beats', message.atMs)
      case 'progress':
        return recordProgress(
          database,
          message.worker,
          message.entries.map((entry) => ({ ...entry, progress: entry.progress ?? null })),
        )
      case 'beat': {
        const { worker, beat, running, inFlight } = message
        const heard = await beatWorker(database, worker, running)
        if (replyTo !== undefined) {
          const { isKnown, state, cancellations, life } = heard
          const content = { isKnown, state, cancellations: [...cancellations], life }
          link.tell(replyTo, encodeMessage({ kind: 'heard', worker, beat, ...content }))
        }
        if (heard.isKnown && inFlight.length > 0) await noteInFlight(database, worker, inFlight)
        return
      }
    }
  }
}

function joinProblem({ protocol, name, jobs, queues }: Join): string | null {
  if (protocol !== protocolVersion)
    return `The worker speaks version ${protocol} of the protocol, the node version ${protocolVersion}. Use the same version of Holdfast on both.`
  if (Buffer.byteLength(name) > 150)
    return `The name "${name}" is longer than 150 bytes. Choose a shorter one.`
  if (queues?.some((queue) => queue.length === 0 || queue.length > 63) === true)
    return 'The name of a queue has 1 to 63 characters.'
  for (const job of jobs) {
    const parsed = parseJobSettings(job.settings)
    if (!parsed.ok)
      return `The settings of the job "${job.name}" are invalid: ${parsed.problems[0]?.path ?? ''} ${parsed.problems[0]?.message ?? ''}.`
  }
  return null
}
