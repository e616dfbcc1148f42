import { type ChannelModel, type ConfirmChannel, type ConsumeMessage, connect } from 'amqplib'
import {
  type BeatsMessage,
  type ControlMessage,
  controlMessage,
  type DispatchMessage,
  dispatchMessage,
  encodeMessage,
  protocolVersion,
  type ResultsMessage,
  readMessage,
  runsOf,
} from '../../../src/broker/protocol.ts'
import { beatsKey, resultsKey, topologyNames } from '../../../src/broker/topology.ts'
import { until } from '../engine/until.ts'

export interface HandWorkerOptions {
  readonly url: string
  readonly prefix: string
  readonly name: string
  readonly jobs: readonly string[]
  readonly concurrency: number
  readonly leaseMs?: number
}

/** What a message has of each of its runs. */
export function eachOf({ message, dispatch }: ReceivedRun): ReceivedRun[] {
  return runsOf(dispatch).map((run) => ({ message, dispatch: { ...dispatch, run } }))
}

export interface ReceivedRun {
  readonly message: ConsumeMessage
  readonly dispatch: DispatchMessage
}

type Join = Extract<ResultsMessage, { readonly kind: 'join' }>

/** A worker of broker mode that does nothing by itself: a test says what it sends and when. */
export class HandWorker {
  readonly #options: HandWorkerOptions
  readonly #connection: ChannelModel
  readonly channel: ConfirmChannel
  readonly #control: string
  readonly told: ControlMessage[] = []
  readonly runs: ReceivedRun[] = []
  readonly #consumers: string[] = []
  #beat = 0
  incarnation = 0
  consume: readonly string[] = []

  private constructor(
    options: HandWorkerOptions,
    connection: ChannelModel,
    channel: ConfirmChannel,
    control: string,
  ) {
    this.#options = options
    this.#connection = connection
    this.channel = channel
    this.#control = control
  }

  /** Joins and consumes; it announces no slots. */
  static async join(options: HandWorkerOptions): Promise<HandWorker> {
    const connection = await connect(options.url)
    connection.on('error', () => {})
    const channel = await connection.createConfirmChannel()
    channel.on('error', () => {})
    const { queue } = await channel.assertQueue('', { exclusive: true })
    const worker = new HandWorker(options, connection, channel, queue)
    await channel.consume(
      queue,
      (message) => {
        const read = message === null ? null : readMessage(controlMessage, message.content)
        if (read?.ok === true) worker.told.push(read.message)
      },
      { noAck: true },
    )
    await worker.#join()
    return worker
  }

  /** Says that these queues can't be consumed, and waits for the answer. */
  async report(lostQueues: NonNullable<Join['lostQueues']>): Promise<void> {
    const joinId = await this.#sendJoin({ rejoins: this.incarnation, lostQueues })
    await this.hears('joined', (joined) => joined.joinId === joinId)
  }

  async #join(): Promise<void> {
    await this.#sendJoin({})
    const joined = await this.hears('joined')
    this.incarnation = joined.worker
    this.consume = joined.consume
    await this.resume()
  }

  async #sendJoin(more: Partial<Join>): Promise<string> {
    const { name, jobs, concurrency, leaseMs = 30_000 } = this.#options
    const joinId = `${name}-${process.hrtime.bigint()}`
    await this.send({
      kind: 'join',
      protocol: protocolVersion,
      joinId,
      name,
      version: '0',
      host: 'here',
      pid: 1,
      queues: null,
      tags: [],
      concurrency,
      leaseMs,
      jobs: jobs.map((job) => ({ name: job, settings: {} })),
      formerWorkers: [],
      ...more,
    })
    return joinId
  }

  async resume(): Promise<void> {
    await this.channel.prefetch(this.#options.concurrency)
    for (const queue of this.consume) {
      const { consumerTag } = await this.channel.consume(queue, (message) => {
        const read = message === null ? null : readMessage(dispatchMessage, message.content)
        if (message !== null && read?.ok === true) this.runs.push({ message, dispatch: read.message })
      })
      this.#consumers.push(consumerTag)
    }
  }

  /** Consumes nothing more, and stays connected. */
  async pause(): Promise<void> {
    for (const tag of this.#consumers.splice(0)) await this.channel.cancel(tag)
  }

  async send(message: ResultsMessage): Promise<void> {
    await this.#publish(resultsKey, message)
  }

  /** `maxRuns`: how many it takes in one message. */
  slots(free: number, maxRuns?: number): Promise<void> {
    return this.send({
      kind: 'slots',
      worker: this.incarnation,
      free,
      ...(maxRuns !== undefined && { maxRuns }),
    })
  }

  async beat(running = 0): Promise<Extract<ControlMessage, { kind: 'heard' }>> {
    this.#beat += 1
    const beat = this.#beat
    const { incarnation: worker } = this
    await this.#publish(beatsKey, { kind: 'beat', worker, beat, running, inFlight: [] })
    return this.hears('heard', (heard) => heard.beat === beat)
  }

  /** The next run that was dispatched here. */
  async receive(): Promise<ReceivedRun> {
    await until(
      'a dispatched run',
      () => Promise.resolve(this.runs.length),
      (count) => count > 0,
    )
    return this.runs.shift()!
  }

  start({ dispatch }: ReceivedRun): Promise<void> {
    const { claimId, id } = dispatch.run
    return this.send({
      kind: 'starts',
      worker: this.incarnation,
      starts: [{ runId: id, claimId }],
    })
  }

  async end(received: ReceivedRun, action: 'succeed' | 'retry' | 'dead' | 'release'): Promise<void> {
    const { run, job } = received.dispatch
    const isTried = action !== 'release'
    const hasFailed = action === 'retry' || action === 'dead'
    await this.send({
      kind: 'results',
      entries: [
        {
          worker: this.incarnation,
          job: job.name,
          record: {
            id: run.id,
            message: run.messageId,
            claim: run.claimId,
            lane: run.laneId,
            attempt: run.attempt + (isTried ? 1 : 0),
            expected: run.attempt,
            action,
            outcome: action === 'succeed' ? 1 : 2,
            startedAtMs: Date.now(),
            durationMs: 1,
            errorCode: hasFailed ? 'failed' : null,
            error: hasFailed ? 'It failed.' : null,
            detail: null,
            delayMs: action === 'retry' ? 0 : null,
            reason: hasFailed ? 'failed' : null,
            isTried,
          },
        },
      ],
    })
  }

  acknowledge({ message }: ReceivedRun): void {
    this.channel.ack(message)
  }

  async hears<Kind extends ControlMessage['kind']>(
    kind: Kind,
    fits: (message: Extract<ControlMessage, { kind: Kind }>) => boolean = () => true,
  ): Promise<Extract<ControlMessage, { kind: Kind }>> {
    type Told = Extract<ControlMessage, { kind: Kind }>
    const find = () =>
      this.told.find((message): message is Told => message.kind === kind && fits(message as Told))
    const found = await until(
      `the worker to hear "${kind}"`,
      () => Promise.resolve(find()),
      (it) => it !== undefined,
    )
    return found!
  }

  /** Like a process that was killed. */
  async vanish(): Promise<void> {
    await this.#connection.close().catch(() => {})
  }

  async #publish(key: string, message: ResultsMessage | BeatsMessage): Promise<void> {
    const { results } = topologyNames(this.#options.prefix)
    this.channel.publish(results, key, encodeMessage(message), { replyTo: this.#control, persistent: true })
    await this.channel.waitForConfirms()
  }
}
