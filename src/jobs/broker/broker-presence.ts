import { randomUUID } from 'node:crypto'
import { hostname } from 'node:os'
import { type ControlMessage, protocolVersion, type ResultsMessage } from '../../broker/protocol.ts'
import { HoldfastError } from '../../core/errors.ts'
import { version } from '../../version.ts'
import { Heartbeat } from '../heartbeat.ts'
import type { PresenceOptions, WorkerPresence } from '../link/worker-link.ts'
import { withDeadline } from '../with-deadline.ts'
import { BrokerUnavailableError } from './broker-unavailable-error.ts'
import type { ConfirmedPublisher } from './confirmed-publisher.ts'
import type { LostQueue } from './queue-consumers.ts'

export interface BrokerPresenceOptions extends PresenceOptions {
  readonly amqpUrl: string
  readonly prefix: string
  readonly publisher: ConfirmedPublisher
  /** The queue to which nodes send answers; null while the broker is unavailable. */
  readonly replyTo: () => string | null
  /** The queues to consume exist; they may differ from the former ones. */
  readonly onQueuesDeclared: () => void
}

type Join = Extract<ResultsMessage, { readonly kind: 'join' }>
type Joined = Extract<ControlMessage, { readonly kind: 'joined' }>

/** A join is repeated after this: the node that received it may have stopped before it answered. */
const askAgainMs = 5000
/** If a node is running, it answers within milliseconds. */
const joinWithinMs = 30_000
const leaveDeadlineMs = 5000

/** A worker's registration in broker mode: a node registers it, and tells it which queues to consume. */
export class BrokerPresence implements WorkerPresence {
  readonly #options: BrokerPresenceOptions
  #incarnation = 0
  #consume: readonly string[] = []
  #heartbeat: Heartbeat | null = null
  #joinId = ''
  #answer: ((message: Joined | Error) => void) | null = null

  constructor(options: BrokerPresenceOptions) {
    this.#options = options
  }

  get incarnation(): number {
    return this.#incarnation
  }

  /** Names of the queues on the broker. */
  get queueNames(): readonly string[] {
    return this.#consume
  }

  get isFenced(): boolean {
    return this.#heartbeat?.isFenced ?? false
  }

  set running(count: number) {
    if (this.#heartbeat !== null) this.#heartbeat.running = count
  }

  async join(former: ReadonlySet<number>): Promise<void> {
    this.#joinId = randomUUID()
    const deadlineMs = performance.now() + joinWithinMs
    while (performance.now() < deadlineMs) {
      const joined = await this.#ask(former)
      if (joined === null) continue
      this.#incarnation = joined.worker
      this.#consume = joined.consume
      this.#options.onJoined(joined.worker)
      this.#startHeartbeat()
      return
    }
    throw new BrokerUnavailableError(
      `no node has answered within ${joinWithinMs} ms. Start one that uses this broker: HOLDFAST_AMQP_URL=… holdfast serve`,
    )
  }

  async joinAgain(isStopping: () => boolean): Promise<void> {
    await this.#heartbeat?.stop()
    this.#heartbeat = null
    while (!isStopping()) {
      try {
        await this.join(new Set())
        return
      } catch (error) {
        if (!(error instanceof BrokerUnavailableError)) throw error
      }
    }
  }

  /** Settings of a job arrive with its runs; a node tells the worker when a job moves to another queue. */
  async refreshJobs(): Promise<boolean> {
    return false
  }

  async markStopping(): Promise<void> {}

  async leave(): Promise<void> {
    await this.#heartbeat?.stop()
    if (this.#incarnation === 0) return
    const left = this.#options.publisher.publish({ kind: 'leave', worker: this.#incarnation }, null)
    await withDeadline(
      left.catch(() => {}),
      leaveDeadlineMs,
    )
  }

  /** Handles a node's message about this worker's registration. */
  hear(message: ControlMessage): void {
    if (message.kind === 'refused' && message.joinId === this.#joinId) {
      this.#answer?.(new HoldfastError('configuration_invalid', message.reason))
    }
    if (message.kind !== 'joined' || message.joinId !== this.#joinId) return
    this.#answer?.(message)
    if (message.worker !== this.#incarnation) return
    this.#consume = message.consume
    this.#options.onQueuesDeclared()
  }

  /** Asks a node to declare queues again that can't be consumed. */
  askForQueues(lost: readonly LostQueue[]): void {
    if (this.#incarnation === 0) return
    const { publisher, replyTo, logger } = this.#options
    const message = { ...this.#joinMessage(new Set()), rejoins: this.#incarnation, lostQueues: [...lost] }
    publisher.publish(message, replyTo()).catch((error: unknown) => {
      logger.debug({ error: String(error) }, 'The queues of the worker could not be asked for')
    })
  }

  /** Null: no answer yet. */
  async #ask(former: ReadonlySet<number>): Promise<Joined | null> {
    const { publisher, replyTo } = this.#options
    const answered = this.#nextAnswer()
    try {
      await publisher.publish(this.#joinMessage(former), replyTo())
    } catch (error) {
      if (!(error instanceof BrokerUnavailableError)) throw error
      this.#options.logger.debug({ error: error.message }, 'The worker could not join yet')
      await new Promise((resolve) => setTimeout(resolve, 200))
      return null
    }
    const answer = await answered
    if (answer instanceof Error) throw answer
    return answer
  }

  #joinMessage(former: ReadonlySet<number>): Join {
    const { name, tags, queues, concurrency, jobs, limits } = this.#options
    return {
      kind: 'join',
      protocol: protocolVersion,
      joinId: this.#joinId,
      name,
      version,
      host: hostname(),
      pid: process.pid,
      queues: queues === null ? null : [...queues],
      tags: [...tags],
      concurrency,
      leaseMs: limits.leaseMs,
      jobs: jobs.map((job) => ({ name: job.name, settings: { ...job.settings } })),
      formerWorkers: [...former],
    }
  }

  #nextAnswer(): Promise<Joined | Error | null> {
    return new Promise((resolve) => {
      const timer = setTimeout(() => resolve(null), askAgainMs)
      this.#answer = (answer) => {
        clearTimeout(timer)
        this.#answer = null
        resolve(answer)
      }
    })
  }

  #startHeartbeat(): void {
    const { amqpUrl, prefix, limits, board, endBlockedAfterMs, logger, onBeat, onRecovered } = this.#options
    this.#heartbeat = new Heartbeat({
      address: { kind: 'broker', amqpUrl, prefix },
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
}
