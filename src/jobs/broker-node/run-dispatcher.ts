import { dispatchHeaders, encodeMessage, furtherRuns, maxRunsPerMessage } from '../../broker/protocol.ts'
import { sharedKey, type TopologyOptions, topologyNames, workerKey } from '../../broker/topology.ts'
import { formatId } from '../../core/delivery/ids.ts'
import type { Logger } from '../../engine/logger.ts'
import { isTransientError } from '../../postgres/connection-error.ts'
import { type BrokerWorkerRow, readBrokerWorkers } from '../../storage/broker-workers.ts'
import type { Database } from '../../storage/database.ts'
import {
  countDispatched,
  countSuspects,
  type Dispatch,
  dispatchRuns,
  endDispatches,
  markPublished,
  returnStranded,
  type Suspects,
} from '../../storage/dispatches.ts'
import type { BrokerLink } from './broker-link.ts'
import { divideRuns } from './divide-runs.ts'
import { type JobInForce, readJobsInForce } from './jobs-in-force.ts'

export interface RunDispatcherOptions {
  readonly database: Database
  readonly link: BrokerLink
  readonly topology: TopologyOptions
  readonly logger: Logger
  readonly by: () => number
  /** TTL of the queue that was declared for this worker name. */
  readonly queueTtlMs: (worker: string) => number | undefined
  readonly onDispatched: (runs: number) => void
}

const maxClaimBytes = 16 * 1024 * 1024
const maxRunsPerClaim = 2000
/** Limit for the bodies of a message with several runs. */
const maxMessageBytes = 64 * 1024
/** A message has at most 1/4 of a worker's free slots as runs: its worker should have a slot for each of them. */
const messagesPerFreeSlots = 4
const maxStrandedRows = 500
const pollMs = 1000
/** An announcement is valid for this long; workers repeat it with every heartbeat. */
const slotsHoldMs = 15_000

interface Announced {
  readonly free: number
  /** How many runs the worker accepts in one message. */
  readonly maxRuns: number
  readonly atMs: number
}

type Counted<Counts> = { -readonly [Field in keyof Counts]: number }

interface Published {
  readonly dispatch: Dispatch
  readonly isConfirmed: boolean
  /** The message waits for one worker, but other workers could execute its runs. */
  readonly mayMove: boolean
}

/**
 * Claims runs for workers that announced free slots, and publishes them: never more than the free slots minus the runs dispatched and not yet
 * started. Plain runs of one job share a message and its claim: until a worker starts the message, any outcome of the message applies to all of its
 * runs. The dispatcher works on the node that receives the announcements, that is, the one that consumes the results queue.
 */
export class RunDispatcher {
  readonly #options: RunDispatcherOptions
  readonly #announced = new Map<number, Announced>()
  #running: Promise<void> | null = null
  #isAsked = false
  #mayBeStranded = false
  #isStopped = false
  #timer: NodeJS.Timeout | null = null
  #firstWorker = 0

  constructor(options: RunDispatcherOptions) {
    this.#options = options
  }

  announce(worker: number, free: number, maxRuns: number): void {
    this.#announced.set(worker, { free, maxRuns, atMs: performance.now() })
    if (free > 0) this.ring()
  }

  /** The worker has left or died, and the database has recorded that. */
  forget(worker: number): void {
    this.#announced.delete(worker)
    this.lookForStranded()
  }

  /** Checks for runs that wait for a worker that is gone or takes too long. */
  lookForStranded(): void {
    this.#mayBeStranded = true
    this.ring()
  }

  /** Another node may receive the announcements from now on. */
  reset(): void {
    this.#announced.clear()
  }

  /** Signals that there may be runs or free slots. */
  ring(): void {
    this.#isAsked = true
    if (this.#running !== null || this.#isStopped || this.#announced.size === 0) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#running = this.#run().finally(() => {
      this.#running = null
      if (this.#isAsked) this.ring()
      else this.#wait(pollMs)
    })
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    if (this.#timer !== null) clearTimeout(this.#timer)
    await this.#running
  }

  #wait(ms: number): void {
    if (this.#isStopped) return
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = setTimeout(() => this.ring(), ms).unref()
  }

  async #run(): Promise<void> {
    this.#isAsked = false
    const { link, logger } = this.#options
    try {
      await this.#returnStranded()
      if (!link.isOpen || link.blockedReason !== null) return
      if (await this.#look()) this.#isAsked = true
    } catch (error) {
      const level = isTransientError(error) ? 'warn' : 'error'
      logger[level]({ error: String(error) }, 'Dispatching to the broker failed; trying again')
    }
  }

  async #returnStranded(): Promise<void> {
    const { database, logger, by } = this.#options
    if (!this.#mayBeStranded) return
    const returned = await returnStranded(database, maxStrandedRows, by())
    this.#mayBeStranded = returned === maxStrandedRows
    if (returned > 0)
      logger.info({ messages: returned }, 'Runs that waited for one worker were returned to their queues')
  }

  /** Returns whether there are probably more runs. */
  async #look(): Promise<boolean> {
    const { database } = this.#options
    const oldestMs = performance.now() - slotsHoldMs
    for (const [worker, { atMs }] of this.#announced) if (atMs < oldestMs) this.#announced.delete(worker)
    if (![...this.#announced.values()].some(({ free }) => free > 0)) return false
    const [workers, dispatched] = await Promise.all([readBrokerWorkers(database), countDispatched(database)])
    const laneIds = new Set(workers.flatMap((worker) => worker.laneIds))
    const suspects = await countSuspects(database, [...laneIds])
    let isMore = false
    const first = this.#firstWorker++ % Math.max(1, workers.length)
    for (const worker of [...workers.slice(first), ...workers.slice(0, first)]) {
      const free = this.#announced.get(worker.incarnation)?.free ?? 0
      const room = free - (dispatched.get(worker.incarnation) ?? 0)
      const held = { ...(suspects.get(worker.incarnation) ?? { suspects: 0, deadly: 0 }) }
      if (room > 0 && (await this.#dispatchFor(worker, room, held, workers))) isMore = true
    }
    return isMore
  }

  async #dispatchFor(
    worker: BrokerWorkerRow,
    room: number,
    held: Counted<Suspects>,
    workers: readonly BrokerWorkerRow[],
  ): Promise<boolean> {
    let left = Math.min(room, maxRunsPerClaim)
    for (const [index, laneId] of worker.laneIds.entries()) {
      if (left <= 0) break
      const queue = worker.queues[index]
      if (queue === undefined) continue
      left -= await this.#claim(worker, laneId, queue, left, held, workers)
    }
    return left <= 0
  }

  async #claim(
    worker: BrokerWorkerRow,
    laneId: number,
    queue: string,
    wanted: number,
    held: Counted<Suspects>,
    workers: readonly BrokerWorkerRow[],
  ): Promise<number> {
    const { database, onDispatched } = this.#options
    const maxRuns = Math.min(
      this.#maxRunsOf(laneId, workers),
      Math.ceil(wanted / messagesPerFreeSlots),
      maxRunsPerMessage,
    )
    // One transaction: if its response is lost, nothing was published, and the sweep returns the runs.
    const dispatches = await dispatchRuns(
      database,
      {
        worker: worker.incarnation,
        laneId,
        wanted,
        // The same limits as for a worker that claims itself: a crash affects few other runs, and at most one run that was executing at two
        // crashes or more.
        suspectRoom: Math.max(0, worker.concurrency - held.suspects),
        mayTakeDeadly: held.deadly === 0,
        jobIds: worker.jobIds,
        maxBytes: maxClaimBytes,
        // Two runs of one ordering key could be started by two workers.
        maxChain: 1,
        patienceMs: 0,
        request: 0,
      },
      (claimed) => divideRuns(claimed, { maxRuns, maxBytes: maxMessageBytes }),
    )
    if (dispatches.length === 0) return 0
    const runs = dispatches.flatMap((dispatch) => dispatch.runs)
    held.suspects += runs.filter(({ crashes }) => crashes > 0).length
    held.deadly += runs.filter(({ crashes }) => crashes > 1).length
    const jobs = await readJobsInForce(
      database,
      runs.map(({ jobId }) => jobId),
    )
    const published = await Promise.all(
      dispatches.map(async (dispatch): Promise<Published> => {
        const job = jobs.get(dispatch.runs[0]?.jobId ?? 0)
        // The job was deleted meanwhile: the run is returned, and ends with its job.
        if (job === undefined) return { dispatch, isConfirmed: false, mayMove: false }
        return this.#publish(dispatch, job, worker, queue, workers)
      }),
    )
    await this.#note(published)
    onDispatched(runs.length)
    return runs.length
  }

  /**
   * Workers of earlier versions, and those that announced nothing else, accept one run per message. Any consumer of the shared queue may receive the
   * message, so the minimum applies.
   */
  #maxRunsOf(laneId: number, workers: readonly BrokerWorkerRow[]): number {
    const consumers = workers.filter(({ laneIds }) => laneIds.includes(laneId))
    return Math.min(...consumers.map(({ incarnation }) => this.#announced.get(incarnation)?.maxRuns ?? 1))
  }

  async #note(published: readonly Published[]): Promise<void> {
    const { database, by } = this.#options
    const confirmed = published.filter(({ isConfirmed }) => isConfirmed)
    const failed = published.filter(({ isConfirmed }) => !isConfirmed)
    if (confirmed.length > 0)
      await markPublished(
        database,
        confirmed.map(({ dispatch }) => dispatch.claimId),
        confirmed.filter(({ mayMove }) => mayMove).map(({ dispatch }) => dispatch.claimId),
      )
    if (failed.length === 0) return
    await endDispatches(
      database,
      failed.map(({ dispatch: { claimId, runs } }) => ({
        runId: runs[0]?.id ?? 0,
        claimId,
        reason: 'unpublished',
        history: null,
      })),
      by(),
    )
  }

  async #publish(
    dispatch: Dispatch,
    job: JobInForce,
    worker: BrokerWorkerRow,
    queue: string,
    workers: readonly BrokerWorkerRow[],
  ): Promise<Published> {
    const { link, topology, queueTtlMs } = this.#options
    const { runs, target, claimId } = dispatch
    const [run] = runs
    if (run === undefined) throw new Error('a dispatch has no run')
    const ttlMs = queueTtlMs(worker.name)
    const isShared =
      ttlMs === undefined ||
      (target === null && run.crashes === 0 && isHandledByAll(run.jobId, run.laneId, workers))
    const key = isShared ? sharedKey(queue, job.name) : workerKey(worker.name, ttlMs)
    const { dispatch: exchange } = topologyNames(topology.prefix)
    const content = encodeMessage({
      kind: 'dispatch',
      run: { ...run },
      ...furtherRuns(runs),
      ...(!isShared && { asks: true }),
      job: { name: job.name, settings: { ...job.settings } },
    })
    const correlationId = run.correlationId ?? formatId('msg', run.messageId)
    const published = await link.publish(exchange, key, content, {
      persistent: true,
      contentType: 'application/json',
      type: job.name,
      messageId: `${formatId('run', run.id)}:${claimId}`,
      correlationId,
      expiration: String(Math.max(1, Math.round(dispatch.ttlMs))),
      headers: {
        [dispatchHeaders.retryCount]: run.attempt,
        [dispatchHeaders.maxRetries]: job.settings.retry.maxRetries,
        [dispatchHeaders.originalCorrelationId]: correlationId,
      },
    })
    const mayMove = !isShared && target?.startsWith('worker:') !== true
    return { dispatch, isConfirmed: published === 'confirmed', mayMove }
  }
}

/** Whether every worker that consumes the shared queue of this job queue has the job. */
function isHandledByAll(jobId: number, laneId: number, workers: readonly BrokerWorkerRow[]): boolean {
  return workers.every(({ laneIds, jobIds }) => !laneIds.includes(laneId) || jobIds.includes(jobId))
}
