import type { Channel } from 'amqplib'
import { parseAmqpUrl } from '../../amqp/amqp-url.ts'
import { loadAmqplib } from '../../amqp/amqplib.ts'
import type { ControlMessage, DispatchMessage } from '../../broker/protocol.ts'
import type { Logger } from '../../engine/logger.ts'
import type { RunRecord } from '../../storage/settle-runs.ts'
import type { Executor } from '../executor.ts'
import type {
  LinkedJob,
  PresenceOptions,
  ProgressStore,
  RunFeed,
  RunFeedOptions,
  RunNotes,
  RunResultStore,
  WorkerLink,
} from '../link/worker-link.ts'
import { BrokerFeed } from './broker-feed.ts'
import { BrokerPresence } from './broker-presence.ts'
import { ConfirmedPublisher } from './confirmed-publisher.ts'
import { openControlQueue } from './control-queue.ts'
import { KeptChannel } from './kept-channel.ts'
import { RecentSet } from './recent-set.ts'

export interface BrokerLinkOptions {
  readonly amqpUrl: string
  /** Prefix of the names on the broker. */
  readonly prefix: string
  readonly name: string
  readonly logger: Logger
}

/** Successes that the broker has confirmed and that a node may not have stored yet. */
const maxRecentSuccesses = 20_000
/** Job queues of a worker plus its own queues; each uses a channel. */
const maxConsumedQueues = 1000
/** Limit for the details in one message; a single result is allowed whatever its size. */
const maxMessageBytes = 1024 * 1024

/**
 * Connects a worker to a broker: runs come from it and results go to it; nodes keep the record. Publishing and consuming use two connections, because
 * a broker that is short of memory or disk blocks publishing connections.
 */
export class BrokerLink implements WorkerLink {
  readonly target = 'broker'
  readonly #options: BrokerLinkOptions
  readonly #publisher: ConfirmedPublisher
  readonly #consumer: KeptChannel<Channel>
  readonly #jobs = new Map<number, { readonly text: string; readonly job: LinkedJob }>()
  readonly #succeeded = new RecentSet(maxRecentSuccesses)
  #replyTo: string | null = null
  /** Opens a channel on the consuming connection; null while it is down. */
  #openChannel: (() => Promise<Channel>) | null = null
  #presence: BrokerPresence | null = null
  #feed: BrokerFeed | null = null
  #executor: Executor | null = null
  #onJobsChanged = () => {}

  constructor(options: BrokerLinkOptions) {
    const address = parseAmqpUrl(options.amqpUrl)
    if (address === null) throw new Error('the URL of the broker is invalid')
    this.#options = options
    const { logger, prefix, name } = options
    const amqplib = loadAmqplib()
    const shared = { amqplib, address, logger }
    this.#publisher = new ConfirmedPublisher({ ...shared, prefix, name: `Holdfast worker ${name}, results` })
    this.#consumer = new KeptChannel<Channel>({
      ...shared,
      name: `Holdfast worker ${name}`,
      maxChannels: maxConsumedQueues,
      create: (model) => {
        this.#openChannel = () => model.createChannel()
        return model.createChannel()
      },
      onOpen: async (channel) => {
        this.#replyTo = await openControlQueue(channel, prefix, (message) => this.#hear(message))
        if (this.#openChannel !== null) this.#feed?.attach(this.#openChannel)
      },
      onClosed: () => {
        this.#replyTo = null
        this.#openChannel = null
        this.#feed?.detach()
      },
    })
  }

  readonly results: RunResultStore = {
    settleSuccesses: async (worker, records) => {
      await this.#send(worker, records)
      for (const { id } of records) this.#succeeded.add(id)
    },
    settleFailures: async (worker, records) => {
      await this.#send(worker, records)
      return []
    },
    // A node stores or quarantines the record; the broker refuses no record for its content.
    quarantine: async (worker, record) => {
      await this.#send(worker, [record])
      return undefined
    },
  }

  readonly progress: ProgressStore = {
    record: async (worker, entries) =>
      this.#publisher.send(
        { kind: 'progress', worker, entries: entries.map((entry) => ({ ...entry, logs: [...entry.logs] })) },
        null,
      ),
    // A node clears the progress with the result.
    clear: async () => {},
  }

  async open(): Promise<void> {
    await this.#publisher.start()
    await this.#consumer.start()
  }

  async close(): Promise<void> {
    await this.#consumer.stop()
    await this.#publisher.stop()
  }

  async readJobs(ids: readonly number[]): Promise<readonly LinkedJob[]> {
    return ids.flatMap((id) => this.#jobs.get(id)?.job ?? [])
  }

  createPresence(options: PresenceOptions): BrokerPresence {
    const { amqpUrl, prefix } = this.#options
    this.#onJobsChanged = options.onJobsChanged
    this.#presence = new BrokerPresence({
      ...options,
      amqpUrl,
      prefix,
      publisher: this.#publisher,
      replyTo: () => this.#replyTo,
      onQueuesDeclared: () => this.#feed?.queuesDeclared(),
    })
    return this.#presence
  }

  createFeed(options: RunFeedOptions): RunFeed {
    const presence = this.#presence
    if (presence === null) throw new Error('the presence comes first')
    this.#executor = options.executor
    this.#feed = new BrokerFeed({
      ...options,
      publisher: this.#publisher,
      replyTo: () => this.#replyTo,
      queues: () => presence.queueNames,
      onQueuesLost: (lost) => presence.askForQueues(lost),
      hasSucceeded: (runId) => this.#succeeded.has(runId) || options.hasSucceeded(runId),
      onJob: (jobId, job) => this.#noteJob(jobId, job),
    })
    if (this.#consumer.channel !== null && this.#openChannel !== null) this.#feed.attach(this.#openChannel)
    return this.#feed
  }

  /** Notes travel with the heartbeats. */
  createNotes(): RunNotes {
    return { begun() {}, async stop() {} }
  }

  /** Nodes do the upkeep. */
  createUpkeep() {
    return { start() {}, async stop() {} }
  }

  async #send(worker: number, records: readonly RunRecord[]): Promise<void> {
    const sent = inMessages(records).map((part) => {
      const entries = part.map((record) => ({
        worker,
        record: { ...record, detail: record.detail === null ? null : { ...record.detail } },
      }))
      return this.#publisher.publish({ kind: 'results', entries }, this.#replyTo)
    })
    await Promise.all(sent)
  }

  #noteJob(id: number, { name, settings }: DispatchMessage['job']): void {
    const text = JSON.stringify(settings)
    const known = this.#jobs.get(id)
    if (known?.text === text) return
    const job = { id, name, defaults: settings, overrides: {}, state: 'active' as const }
    this.#jobs.set(id, { text, job: { ...job, state_reason: null, reenable_at: null } })
    if (known !== undefined) this.#onJobsChanged()
  }

  #hear(message: ControlMessage): void {
    this.#presence?.hear(message)
    if (message.kind !== 'dropped' && message.kind !== 'started') return
    this.#feed?.answer(
      message.runs.map(({ claimId }) => claimId),
      message.kind,
    )
    if (message.kind === 'started') return
    for (const { claimId } of message.runs) this.#executor?.giveUpClaim(claimId)
  }
}

/** A broker refuses messages that are too large (128 MiB by default), and small messages keep its memory use low. */
function inMessages(records: readonly RunRecord[]): RunRecord[][] {
  const parts: RunRecord[][] = []
  let bytes = Number.POSITIVE_INFINITY
  for (const record of records) {
    const size = record.detail === null ? 0 : JSON.stringify(record.detail).length
    if (bytes + size > maxMessageBytes) {
      parts.push([])
      bytes = 0
    }
    bytes += size
    parts.at(-1)?.push(record)
  }
  return parts
}
