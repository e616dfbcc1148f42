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
  /** Where nodes answer. */
  readonly replyTo: () => string | null
  /** The queues that the node told us to consume. */
  readonly queues: () => readonly string[]
  /** These can't be consumed; `queuesDeclared` is called when they are back. */
  readonly onQueuesLost: (queues: readonly LostQueue[]) => void
  /** This job came with a run; its settings may be new. */
  readonly onJob: (jobId: number, job: DispatchMessage['job']) => void
}

/** Bodies in the line; a single run passes whatever its size. */
const maxLineBytes = 16 * 1024 * 1024
/** A worker without a free slot stops to consume after this; short runs free one sooner. */
const fullAfterMs = 200
/**
 * What it holds then goes back after this: it could run elsewhere. Not sooner, because the broker counts how often a message comes back, and
 * dead-letters it at its delivery limit.
 */
const returnAfterMs = 1000
/** The prefetch follows the length of the line, when that has changed by this factor, and no more often than so. */
const resizeFactor = 2
const resizeMs = 500
const retryStartsMs = 200
/** An answer of a node takes milliseconds; it may be lost with the connection of the node. */
const askAgainMs = 5000
/** Claims that began or ended here, by which a second delivery of the same message is known. */
const maxKnownClaims = 20_000
const stopDeadlineMs = 5000

/**
 * Takes runs from a broker. The nodes dispatch no more than the free slots that workers announce; each message is acknowledged when the start of its runs is
 * confirmed on the results queue, and then they are executed. From there on the worker's lease guards them, as that of any other worker. A message is started as a whole when there is a slot
 * for one of its runs: the others stand in the line, and go back as all that waits there for too long.
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

  /** A new connection to consume on. */
  attach(open: () => Promise<Channel>): void {
    this.#consumers.attach(open)
    this.noteRoom()
  }

  /** The connection is gone, and the broker delivers again what was not acknowledged on it. */
  detach(): void {
    this.#consumers.detach()
    this.#drop(() => true)
    this.#asked.giveUp()
  }

  /** What came on a channel that is closed. */
  #drop(isDropped: (received: Received) => boolean): void {
    const lost = [...this.#held.remove(isDropped), ...this.#due.remove(isDropped)]
    for (const received of lost) if (received.isMaybeStarted) this.#release(received)
  }

  /** A node has answered to starts that asked. */
  answer(claimIds: readonly number[], answer: StartAnswer): void {
    this.#asked.answer(claimIds, answer)
  }

  ring(): void {
    this.noteRoom()
  }

  /** What was deleted is there again. */
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

  /** A worker over a broker claims nothing as it enqueues: a node stores the run and dispatches it like every other. */
  keepSlot(): null {
    return null
  }

  async #untilStarted(): Promise<void> {
    await Promise.all(this.#starting)
  }

  #mayTake(): boolean {
    return this.#isRunning && this.#options.mayClaim()
  }

  /** How many more may be begun, or stand in the line. */
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
    // One that was delivered before may have been started, by a worker that died before its acknowledgement arrived: to execute it again would be a crash that nobody
    // counts. One that waited for this worker by name may have been given to another meanwhile.
    const mustAsk = message.fields.redelivered || asks === true
    this.#held.add({ channel, message, runs, token, mustAsk, isMaybeStarted: false })
    this.#pump()
  }

  /** Starts what there is room for, and consumes while there is room. */
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

  /** After this turn of the event loop: runs that arrive in it are started with one message. */
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
    // From here on a second delivery of the same message is none of ours to start.
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

  /** Waits for the node's word. Without it they stay ours to start, and are asked for again. */
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
      // The connection that publishes may be away for a while, and the one that consumes not.
      await new Promise((resolve) => setTimeout(resolve, retryStartsMs))
      return false
    }
  }

  async #run(received: Received, worker: number): Promise<void> {
    this.#answer(received, 'acknowledge')
    await this.#options.take(received.runs, worker, () => true)
  }

  /** Nobody knows whether its start was recorded. As long as we hold the message, it is ours to start again. */
  #takeBack(received: Received): void {
    received.isMaybeStarted = true
    if (this.#consumers.isOpen(received.channel) && this.#isRunning) this.#held.addFirst(received)
    else this.#release(received)
  }

  #release(received: Received): void {
    for (const run of received.runs) this.#options.release(run, this.#options.worker())
    this.#answer(received, 'acknowledge')
  }

  /** Not on a later channel: the broker delivers again what a channel held. */
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

  /** A consumer's prefetch can't be changed: another one takes its place. */
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

  /** What has not begun goes to others. */
  #returnHeld(): void {
    for (const received of this.#held.remove(() => true)) {
      if (received.isMaybeStarted) this.#release(received)
      else this.#answer(received, 'return')
    }
    this.#slots.note()
  }
}
