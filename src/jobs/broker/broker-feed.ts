import type { Channel, ConsumeMessage } from 'amqplib'
import {
  type DispatchMessage,
  dispatchMessage,
  maxRunsPerMessage,
  readMessage,
  runsOf,
} from '../../broker/protocol.ts'
import { LineLength } from '../line-length.ts'
import type { RunFeed, RunFeedOptions } from '../link/worker-link.ts'
import { withDeadline } from '../with-deadline.ts'
import { AskedStarts, type StartAnswer } from './asked-starts.ts'
import type { ConfirmedPublisher } from './confirmed-publisher.ts'
import { HeldMessages, type Received } from './held-messages.ts'
import { type LostQueue, QueueConsumers } from './queue-consumers.ts'
import { RecentSet } from './recent-set.ts'
import { SlotAnnouncer } from './slot-announcer.ts'

export interface BrokerFeedOptions extends RunFeedOptions {
  readonly publisher: ConfirmedPublisher
  /** The queue to which nodes send answers. */
  readonly replyTo: () => string | null
  /** The queues that a node told this worker to consume. */
  readonly queues: () => readonly string[]
  /** These queues can't be consumed; `queuesDeclared` is called when they exist again. */
  readonly onQueuesLost: (queues: readonly LostQueue[]) => void
  /** A run brought this job with it; its settings may be new. */
  readonly onJob: (jobId: number, job: DispatchMessage['job']) => void
}

/** Limit for bodies in the local queue; a single run is allowed whatever its size. */
const maxLineBytes = 16 * 1024 * 1024
/** A worker stops consuming when it had no free slot for this long; short runs free a slot sooner. */
const fullAfterMs = 200
/**
 * A full worker returns the messages that it holds after this time, because other workers could run them. Not sooner, because the broker counts the
 * returns of a message and dead-letters it at its delivery limit.
 */
const returnAfterMs = 1000
/** The prefetch follows the length of the local queue: only when the length has changed by this factor, and at most once per `resizeMs`. */
const resizeFactor = 2
const resizeMs = 500
const retryStartsMs = 200
/** A node answers within milliseconds; the answer can be lost with the node's connection. */
const askAgainMs = 5000
/** Claims that started or ended here, to recognise a redelivery of the same message. */
const maxKnownClaims = 20_000
const stopDeadlineMs = 5000

/**
 * Takes runs from a broker. Nodes dispatch no more runs than the free slots that workers announce. A message is acknowledged when the broker has
 * confirmed the start of its runs on the results queue; then the runs are executed, guarded by the worker's lease as for any other worker. A message
 * is started as a whole as soon as one of its runs has a slot: the others wait in the local queue, and are returned if they wait there for too long.
 */
export class BrokerFeed implements RunFeed {
  readonly #options: BrokerFeedOptions
  readonly #line: LineLength
  readonly #slots: SlotAnnouncer
  readonly #asked = new AskedStarts()
  readonly #knownClaims = new RecentSet(maxKnownClaims)
  readonly #consumers: QueueConsumers
  #prefetch = 0
  #resizedAtMs = Number.NEGATIVE_INFINITY
  readonly #held = new HeldMessages()
  readonly #due = new HeldMessages()
  readonly #starting = new Set<Promise<void>>()
  #startingRuns = 0
  #fullTimer: NodeJS.Timeout | null = null
  #returnTimer: NodeJS.Timeout | null = null
  #isFlushScheduled = false
  #isRunning = false

  constructor(options: BrokerFeedOptions) {
    this.#options = options
    const { executor, limits, publisher, worker, replyTo, logger, onQueuesLost } = options
    this.#consumers = new QueueConsumers({
      logger,
      onMessage: (channel, message, queue) => this.#receive(channel, queue, message),
      onChannelClosed: (channel) => this.#drop((received) => received.channel === channel),
      onLost: onQueuesLost,
      onReady: () => this.noteRoom(),
    })
    this.#line = new LineLength(limits.maxPrefetch, () => executor.completed)
    this.#slots = new SlotAnnouncer({
      intervalMs: limits.heartbeatMs,
      free: () => this.#free(),
      announce: (free) =>
        publisher.publish({ kind: 'slots', worker: worker(), free, maxRuns: maxRunsPerMessage }, replyTo()),
    })
  }

  start(): void {
    this.#isRunning = true
    this.#slots.start()
    this.noteRoom()
  }

  async stop(): Promise<void> {
    this.#isRunning = false
    await withDeadline(this.#stopConsuming(), stopDeadlineMs)
    this.#stopTimers()
    this.#returnHeld()
    this.#flush()
    this.#asked.giveUp()
    await withDeadline(this.#untilStarted(), stopDeadlineMs)
    await this.#slots.stop()
  }

  /** Consumes on a new connection. */
  attach(open: () => Promise<Channel>): void {
    this.#consumers.attach(open)
    this.noteRoom()
  }

  /** The connection is lost: the broker redelivers messages that were not acknowledged on it. */
  detach(): void {
    this.#consumers.detach()
    this.#drop(() => true)
    this.#asked.giveUp()
  }

  /** Drops messages of a closed channel. */
  #drop(isDropped: (received: Received) => boolean): void {
    const lost = [...this.#held.remove(isDropped), ...this.#due.remove(isDropped)]
    for (const received of lost) if (received.isMaybeStarted) this.#release(received)
  }

  /** Passes on a node's answer to starts that asked for one. */
  answer(claimIds: readonly number[], answer: StartAnswer): void {
    this.#asked.answer(claimIds, answer)
  }

  ring(): void {
    this.noteRoom()
  }

  /** The deleted queues have been declared again. */
  queuesDeclared(): void {
    this.#consumers.declared()
    this.noteRoom()
  }

  noteRoom(): void {
    this.#pump()
    this.#slots.note()
  }

  reset(): void {
    this.#slots.repeat()
    this.#pump()
  }

  /** A broker worker claims nothing while enqueuing: a node stores and dispatches the run as any other. */
  keepSlot(): null {
    return null
  }

  async #untilStarted(): Promise<void> {
    await Promise.all(this.#starting)
  }

  #mayTake(): boolean {
    return this.#isRunning && this.#options.mayClaim()
  }

  /** How many more runs may start or wait in the local queue. */
  #room(): number {
    const { executor, concurrency } = this.#options
    if (executor.queuedBytes >= maxLineBytes) return 0
    const taken = executor.runningCount + executor.queuedCount + this.#startingRuns + this.#due.runs
    return concurrency + this.#line.runs - taken
  }

  #free(): number {
    if (!this.#consumers.isAttached || !this.#mayTake()) return 0
    return Math.max(0, this.#room() - this.#held.runs)
  }

  #receive(channel: Channel, queue: string, message: ConsumeMessage): void {
    const read = readMessage(dispatchMessage, message.content)
    if (!read.ok) {
      this.#options.logger.error(
        { queue, problem: read.problem },
        'A message is no run; it goes to the dead letters',
      )
      this.#answer({ channel, message }, 'reject')
      return
    }
    const { run, job, asks } = read.message
    const runs = runsOf(read.message).filter(({ id }) => !this.#options.hasSucceeded(id))
    if (this.#knownClaims.has(run.claimId) || runs.length === 0) {
      this.#answer({ channel, message }, 'acknowledge')
      return
    }
    this.#options.onJob(run.jobId, job)
    const token = { runId: run.id, claimId: run.claimId }
    // A redelivered message may have been started by a worker that died before its acknowledgement arrived: executing it again would hide a crash. A
    // message that waited for this worker by name may have been assigned to another one meanwhile.
    const mustAsk = message.fields.redelivered || asks === true
    this.#held.add({ channel, message, runs, token, mustAsk, isMaybeStarted: false })
    this.#pump()
  }

  /** Starts messages and consumes more while there is room. */
  #pump(): void {
    const mayTake = this.#mayTake()
    if (mayTake) this.#beginHeld()
    if (this.#due.runs > 0) this.#scheduleFlush()
    const hasRoom = mayTake && this.#room() > 0
    if (hasRoom) {
      this.#stopTimers()
      this.#resize()
      this.#consumers.consume(this.#options.queues(), this.#prefetch)
    } else if (this.#isRunning) {
      this.#noteFull()
    }
  }

  #beginHeld(): void {
    while (this.#room() > 0) {
      const next = this.#held.takeFirst()
      if (next === undefined) return
      this.#due.add(next)
    }
  }

  #noteFull(): void {
    if (this.#consumers.isConsuming)
      this.#fullTimer ??= setTimeout(() => {
        this.#fullTimer = null
        void this.#stopConsuming()
      }, fullAfterMs)
    if (this.#held.runs > 0)
      this.#returnTimer ??= setTimeout(() => {
        this.#returnTimer = null
        this.#returnHeld()
      }, returnAfterMs)
  }

  #stopTimers(): void {
    if (this.#fullTimer !== null) clearTimeout(this.#fullTimer)
    if (this.#returnTimer !== null) clearTimeout(this.#returnTimer)
    this.#fullTimer = null
    this.#returnTimer = null
  }

  /** Runs after this turn of the event loop, so that messages that arrive in the same turn share one `starts` message. */
  #scheduleFlush(): void {
    if (this.#isFlushScheduled) return
    this.#isFlushScheduled = true
    setImmediate(() => {
      this.#isFlushScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    const { runs } = this.#due
    if (runs === 0) return
    const batch = this.#due.remove(() => true)
    this.#startingRuns += runs
    // From here on, a redelivery of the same message must not be started.
    for (const { token } of batch) this.#knownClaims.add(token.claimId)
    this.#line.adapt(runs)
    const asking = batch.filter(({ mustAsk }) => mustAsk)
    if (asking.length > 0) this.#track(this.#beginAsking(asking))
    if (asking.length < batch.length) this.#track(this.#begin(batch.filter(({ mustAsk }) => !mustAsk)))
  }

  #track(begun: Promise<void>): void {
    const starting = begun.finally(() => {
      this.#starting.delete(starting)
      this.noteRoom()
    })
    this.#starting.add(starting)
  }

  async #begin(batch: readonly Received[]): Promise<void> {
    const worker = this.#options.worker()
    const isSent = await this.#sendStarts(batch, worker, false)
    for (const received of batch) {
      this.#startingRuns -= received.runs.length
      if (isSent) await this.#run(received, worker)
      else this.#takeBack(received)
    }
  }

  /** Waits for the node's answer. Without an answer the message stays here, and the worker asks again. */
  async #beginAsking(batch: readonly Received[]): Promise<void> {
    const worker = this.#options.worker()
    const waiting = this.#asked.wait(
      batch.map(({ token }) => token.claimId),
      askAgainMs,
    )
    if (!(await this.#sendStarts(batch, worker, true))) this.#asked.giveUp()
    const answers = await waiting
    for (const received of batch) {
      this.#startingRuns -= received.runs.length
      const answer = answers.get(received.token.claimId)
      if (answer === 'started') await this.#run(received, worker)
      else if (answer === 'dropped') this.#answer(received, 'acknowledge')
      else this.#takeBack(received)
    }
  }

  async #sendStarts(batch: readonly Received[], worker: number, asks: boolean): Promise<boolean> {
    const { publisher, replyTo } = this.#options
    const starts = batch.map(({ token }) => token)
    try {
      await publisher.publish({ kind: 'starts', worker, starts, ...(asks && { asks }) }, replyTo())
      return true
    } catch {
      // The publishing connection may be down while the consuming one is up.
      await new Promise((resolve) => setTimeout(resolve, retryStartsMs))
      return false
    }
  }

  async #run(received: Received, worker: number): Promise<void> {
    this.#answer(received, 'acknowledge')
    await this.#options.take(received.runs, worker, () => true)
  }

  /** It is unknown whether the start was recorded. While the worker holds the message, it may start it again. */
  #takeBack(received: Received): void {
    received.isMaybeStarted = true
    if (this.#consumers.isOpen(received.channel) && this.#isRunning) this.#held.addFirst(received)
    else this.#release(received)
  }

  #release(received: Received): void {
    for (const run of received.runs) this.#options.release(run, this.#options.worker())
    this.#answer(received, 'acknowledge')
  }

  /** Answers only on the message's own channel: the broker redelivers the messages of a closed channel. */
  #answer(
    { channel, message }: Pick<Received, 'channel' | 'message'>,
    how: 'acknowledge' | 'return' | 'reject',
  ): void {
    if (!this.#consumers.isOpen(channel)) return
    try {
      if (how === 'acknowledge') channel.ack(message)
      else channel.nack(message, false, how === 'return')
    } catch {
      // The channel is being closed.
    }
  }

  /** The prefetch of a consumer can't be changed, so the consumer is replaced. */
  #resize(): void {
    const wanted = this.#options.concurrency + this.#line.runs
    const isFar = wanted > this.#prefetch * resizeFactor || wanted * resizeFactor < this.#prefetch
    const nowMs = performance.now()
    if (!isFar || nowMs - this.#resizedAtMs < resizeMs) return
    this.#resizedAtMs = nowMs
    this.#prefetch = wanted
    void this.#consumers.cancel()
  }

  async #stopConsuming(): Promise<void> {
    await this.#consumers.cancel()
    this.#pump()
  }

  /** Returns messages that were not started to the broker, for other workers. */
  #returnHeld(): void {
    for (const received of this.#held.remove(() => true)) {
      if (received.isMaybeStarted) this.#release(received)
      else this.#answer(received, 'return')
    }
    this.#slots.note()
  }
}
