import { parseAmqpUrl } from '../../amqp/amqp-url.ts'
import { loadAmqplib } from '../../amqp/amqplib.ts'
import { encodeMessage } from '../../broker/protocol.ts'
import {
  beatsKey,
  resultsKey,
  type TopologyOptions,
  topologyNames,
  workerQueue,
} from '../../broker/topology.ts'
import { Background } from '../../engine/background.ts'
import type { Logger } from '../../engine/logger.ts'
import { createEgress } from '../../network/egress.ts'
import { Listener } from '../../postgres/listener.ts'
import { forgetBrokerQueue, readBrokerQueues } from '../../storage/broker-queues.ts'
import { insertBrokerReject, reportBroker } from '../../storage/broker-reports.ts'
import { readBrokerBeats, readBrokerWorkers } from '../../storage/broker-workers.ts'
import type { Database } from '../../storage/database.ts'
import { sweepDispatches } from '../../storage/dispatches.ts'
import { readClock } from '../../storage/server.ts'
import { buryWorker, type RecoveredRuns } from '../../storage/workers.ts'
import type { JournalEntry } from '../journal.ts'
import { WorkerWatch } from '../worker-watch.ts'
import { BrokerLink, type Consumed } from './broker-link.ts'
import { DeadLetterHandler, type DeadLetterOutcome } from './dead-letter-handler.ts'
import { QueueWatch } from './queue-watch.ts'
import { ResultsIntake } from './results-intake.ts'
import { RunDispatcher } from './run-dispatcher.ts'
import { WorkerRelay } from './worker-relay.ts'

export interface BrokerNodeOptions {
  readonly database: Database
  /** Null behind a transaction-pooling proxy: the node polls for new runs. */
  readonly listenUrl: string | null
  readonly url: string
  readonly topology: TopologyOptions
  readonly nodeName: string
  readonly incarnation: () => number
  readonly logger: Logger
  readonly onSettled: (entries: readonly JournalEntry[], refused: ReadonlySet<number>) => void
  readonly onRecovered: (recovered: RecoveredRuns) => void
  readonly onDeadLetter: (outcome: DeadLetterOutcome, reason: string, latencyMs: number) => void
  readonly onDispatched: (runs: number) => void
}

const tickMs = 1000
const watchMs = 1000
const reportMs = 2000
const sweepMs = 5000
const lookMs = 5000
const retireMs = 10_000
const maxLatencies = 200
const maxSweepRows = 500
const resultsPrefetch = 500
const beatsPrefetch = 200
const deadLetterPrefetch = 200
const maxFieldsBytes = 64 * 1024

/** The node's side of broker mode: dispatches runs, stores what workers send, handles dead-lettered messages, and detects dead workers. */
export class BrokerNode {
  readonly #options: BrokerNodeOptions
  readonly #background: Background
  readonly #link: BrokerLink
  readonly #dispatcher: RunDispatcher
  readonly #relay: WorkerRelay
  readonly #intake: ResultsIntake
  readonly #deadLetters: DeadLetterHandler
  readonly #watch = new WorkerWatch(watchMs * 4)
  readonly #timers: NodeJS.Timeout[] = []
  readonly #counts = {
    dispatched: 0,
    failed: 0,
    returned: 0,
    ended: 0,
    unreadable: 0,
    rejected: 0,
    failedExpired: 0,
    failedDeliveryLimit: 0,
    failedRejected: 0,
  }
  readonly #latencies: number[] = []
  readonly #queueWatch: QueueWatch
  readonly #depths: Record<string, number> = {}
  #listener: Listener | null = null
  #listensTo = ''
  #judgedThroughMs = 0
  #isStopped = false

  constructor(options: BrokerNodeOptions) {
    const { database, topology, logger, url, incarnation: by } = options
    this.#options = options
    this.#background = new Background(logger)
    const address = parseAmqpUrl(url)
    if (address === null) throw new Error('HOLDFAST_AMQP_URL is not the URL of a broker.')
    const names = topologyNames(topology.prefix)
    const onRejected = (consumed: Consumed, problem: string) => this.#reject(consumed, problem)
    this.#link = new BrokerLink({
      address,
      username: address.username ?? 'guest',
      password: address.password ?? 'guest',
      tls: {},
      amqplib: loadAmqplib(),
      // The operator configures the broker; it is often on a private network.
      egress: createEgress({ allowNetworks: ['0.0.0.0/0', '::/0'] }),
      topology,
      nodeName: options.nodeName,
      logger,
      consumptions: [
        { queue: names.resultsQueue, prefetch: resultsPrefetch, onMessage: (it) => this.#intake.receive(it) },
        {
          queue: names.beatsQueue,
          prefetch: beatsPrefetch,
          onMessage: (it) => void this.#relay.handleBeat(it),
        },
        {
          queue: names.deadLetterQueue,
          prefetch: deadLetterPrefetch,
          onMessage: (it) => this.#deadLetters.receive(it),
        },
      ],
      onOpen: () => {
        this.#dispatcher.ring()
        void this.#background.tolerate(this.#report())
      },
      onLost: () => {
        this.#intake.lose()
        this.#deadLetters.lose()
        this.#dispatcher.reset()
      },
    })
    const link = this.#link
    this.#queueWatch = new QueueWatch({ database, link, topology })
    this.#relay = new WorkerRelay({ database, link, topology, logger, by, onRejected })
    this.#dispatcher = new RunDispatcher({
      database,
      link,
      topology,
      logger,
      by,
      queueTtlMs: (worker) => this.#relay.queueTtls.get(worker),
      onDispatched: (runs) => {
        this.#counts.dispatched += runs
        options.onDispatched(runs)
      },
    })
    this.#intake = new ResultsIntake({
      database,
      link,
      relay: this.#relay,
      dispatcher: this.#dispatcher,
      logger,
      onSettled: options.onSettled,
      onRejected,
    })
    this.#deadLetters = new DeadLetterHandler({
      database,
      logger,
      by,
      onRejected,
      onHandled: (outcome, reason, latencyMs) => {
        this.#count(outcome, reason, latencyMs)
        options.onDeadLetter(outcome, reason, latencyMs)
      },
    })
  }

  start(): void {
    this.#link.start()
    this.#every(tickMs, () => this.#tick())
    this.#every(watchMs, () => this.#judge())
    this.#every(sweepMs, () => this.#sweep())
    this.#every(reportMs, () => this.#report())
    this.#every(lookMs, () => this.#queueWatch.look())
    this.#every(retireMs, () => this.#removeRetired())
    void this.#background.tolerate(this.#relay.refresh())
    void this.#background.tolerate(this.#report())
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    for (const timer of this.#timers) clearInterval(timer)
    await this.#dispatcher.stop()
    await this.#deadLetters.stop()
    await this.#intake.stop()
    await this.#link.stop()
    await this.#listener?.stop()
  }

  /** Runs `work` at an interval, never twice at once. Failures are logged at debug level; the next interval retries. */
  #every(ms: number, work: () => Promise<void>): void {
    let running: Promise<void> | null = null
    const timer = setInterval(() => {
      running ??= work()
        .catch((error: unknown) => {
          if (!this.#isStopped)
            this.#options.logger.debug({ error: String(error) }, 'Upkeep of broker mode failed')
        })
        .finally(() => {
          running = null
        })
    }, ms)
    timer.unref()
    this.#timers.push(timer)
  }

  /** Publishes a tick to both queues. When a tick has been consumed, every message published before it has been handled. */
  async #tick(): Promise<void> {
    const { database, topology, incarnation } = this.#options
    if (!this.#link.isOpen) return
    const atMs = await readClock(database)
    const { results } = topologyNames(topology.prefix)
    const content = encodeMessage({ kind: 'tick', atMs, node: incarnation() })
    await Promise.all([
      this.#link.publish(results, beatsKey, content, { persistent: false }),
      this.#link.publish(results, resultsKey, content, { persistent: true }),
    ])
    await this.#listen()
  }

  /** A worker is dead if its heartbeat counter doesn't change while nodes handle messages of the beats queue. */
  async #judge(): Promise<void> {
    const { database, logger, incarnation, onRecovered } = this.#options
    const { peers, beatsThroughMs } = await readBrokerBeats(database)
    const hasFlowed = beatsThroughMs > this.#judgedThroughMs
    this.#judgedThroughMs = beatsThroughMs
    if (!hasFlowed) return
    for (const dead of this.#watch.observe(peers, performance.now())) {
      const recovered = await buryWorker(database, dead.incarnation, dead.beat, incarnation())
      this.#dispatcher.forget(dead.incarnation)
      logger.warn(
        { worker: dead.incarnation, ...recovered },
        'A worker of broker mode is dead; its runs return to their queues',
      )
      onRecovered(recovered)
    }
  }

  async #sweep(): Promise<void> {
    const { database, logger, incarnation } = this.#options
    const swept = await sweepDispatches(database, maxSweepRows, incarnation())
    if (swept.unpublished + swept.overdue > 0)
      logger.warn({ ...swept }, 'Messages whose runs did not start in time were settled from PostgreSQL')
    this.#dispatcher.lookForStranded()
  }

  /** Removes queues whose worker has been gone for longer than the queue's TTL: every message in them has expired. */
  async #removeRetired(): Promise<void> {
    const { database, topology } = this.#options
    if (!this.#link.isOpen) return
    for (const { name, worker, ttlMs, isRetired } of await readBrokerQueues(database)) {
      if (!isRetired || worker === null || ttlMs === null) continue
      await this.#link.declare(workerQueue(topology, worker, ttlMs))
      const seen = await this.#link.look(name)
      if (seen.messages > 0 || seen.consumers > 0) continue
      // Keep the queue if a worker of this name has joined since.
      if (!(await forgetBrokerQueue(database, name))) continue
      this.#relay.queueTtls.delete(worker)
      await this.#link.remove(name)
    }
  }

  async #report(): Promise<void> {
    const { database, nodeName, incarnation, topology } = this.#options
    const names = topologyNames(topology.prefix)
    if (this.#link.isOpen) {
      for (const queue of [names.deadLetterQueue, names.resultsQueue]) {
        this.#depths[queue] = (await this.#link.look(queue)).messages
      }
    }
    const { isOpen, blockedReason, failure, lastFailure, sinceMs, server } = this.#link
    const nowMs = performance.now()
    const latencies = this.#latencies.toSorted((one, other) => one - other)
    await reportBroker(database, incarnation(), nodeName, {
      state: !isOpen ? 'disconnected' : blockedReason !== null ? 'blocked' : 'connected',
      error: failure?.text ?? blockedReason,
      errorCode: failure?.code ?? null,
      fix: failure?.fix ?? null,
      sinceMs: Math.round(nowMs - sinceMs),
      lastFailure:
        lastFailure === null
          ? null
          : { error: lastFailure.failure.text, agoMs: Math.round(nowMs - lastFailure.atMs) },
      server,
      ...topology,
      waiting: this.#intake.waiting + this.#deadLetters.waiting,
      deadLetterDepth: this.#depths[names.deadLetterQueue] ?? 0,
      deadLettersHeld: this.#deadLetters.waiting,
      resultsDepth: this.#depths[names.resultsQueue] ?? 0,
      latencyP50Ms: latencies[Math.floor(latencies.length * 0.5)] ?? null,
      latencyP95Ms: latencies[Math.floor(latencies.length * 0.95)] ?? null,
      ...this.#counts,
    })
  }

  #count(outcome: DeadLetterOutcome, reason: string, latencyMs: number): void {
    this.#counts[outcome] += 1
    if (outcome === 'failed') {
      if (reason === 'expired') this.#counts.failedExpired += 1
      if (reason === 'delivery_limit') this.#counts.failedDeliveryLimit += 1
      if (reason === 'rejected') this.#counts.failedRejected += 1
    }
    if (outcome === 'unreadable') return
    this.#latencies.push(Math.round(latencyMs))
    if (this.#latencies.length > maxLatencies) this.#latencies.shift()
  }

  /** Listens to the queues of the broker's workers: a transaction that enqueues there sends a notification. */
  async #listen(): Promise<void> {
    const { database, listenUrl, logger } = this.#options
    if (listenUrl === null) return
    const lanes = new Set((await readBrokerWorkers(database)).flatMap(({ laneIds }) => laneIds))
    const channels = [...lanes].sort((a, b) => a - b).map((lane) => `holdfast_queue_${lane}`)
    if (channels.join() === this.#listensTo || this.#isStopped) return
    this.#listensTo = channels.join()
    await this.#listener?.stop()
    this.#listener = new Listener({
      connectionString: listenUrl,
      channels,
      applicationName: 'holdfast-broker-listener',
      logger,
      onNotification: () => this.#dispatcher.ring(),
      onReconnect: () => this.#dispatcher.ring(),
    })
    await this.#listener.start()
  }

  async #reject({ message }: Consumed, problem: string): Promise<void> {
    const { fields, properties, content } = message
    this.#counts.rejected += 1
    this.#options.logger.warn(
      { queue: fields.routingKey, problem },
      'A message of the broker is unreadable; it is kept',
    )
    const whole = JSON.stringify({ fields, properties })
    await insertBrokerReject(this.#options.database, {
      queue: fields.routingKey,
      error: problem.replaceAll('\0', ''),
      fields: whole.length <= maxFieldsBytes ? { fields, properties } : { omitted: 'too large' },
      body: content,
    })
  }
}
