import { encodeMessage, type ResultsMessage, readMessage, resultsMessage } from '../../broker/protocol.ts'
import type { Logger } from '../../engine/logger.ts'
import { isTransientError } from '../../postgres/connection-error.ts'
import { noteBrokerTick } from '../../storage/broker-workers.ts'
import type { Database } from '../../storage/database.ts'
import { type DispatchToken, startDispatched } from '../../storage/dispatches.ts'
import { clearProgress } from '../../storage/settle-runs.ts'
import { buryWorker, clearBlocked, reportBlocked, retireWorker } from '../../storage/workers.ts'
import type { JournalEntry } from '../journal.ts'
import type { BrokerLink, Consumed } from './broker-link.ts'
import { ResultStore } from './result-store.ts'
import type { RunDispatcher } from './run-dispatcher.ts'
import type { WorkerRelay } from './worker-relay.ts'

export interface ResultsIntakeOptions {
  readonly database: Database
  readonly link: BrokerLink
  readonly relay: WorkerRelay
  readonly dispatcher: RunDispatcher
  readonly logger: Logger
  readonly onSettled: (entries: readonly JournalEntry[], refused: ReadonlySet<number>) => void
  readonly onRejected: (consumed: Consumed, problem: string) => Promise<void>
}

interface Received {
  readonly consumed: Consumed
  readonly message: ResultsMessage
}

const minBackoffMs = 50
const maxBackoffMs = 2000

/**
 * Stores what workers send, in queue order. It takes everything that has arrived as one batch, commits it, and then acknowledges it. A result implies
 * its start, so a lost start does no harm.
 */
export class ResultsIntake {
  readonly #options: ResultsIntakeOptions
  readonly #store: ResultStore
  #received: Consumed[] = []
  #running: Promise<void> | null = null
  #isStopped = false

  constructor(options: ResultsIntakeOptions) {
    this.#options = options
    this.#store = new ResultStore(options.database, options.logger)
  }

  get waiting(): number {
    return this.#received.length
  }

  receive(consumed: Consumed): void {
    this.#received.push(consumed)
    this.#running ??= this.#run().finally(() => {
      this.#running = null
    })
  }

  /** Drops the received messages: the broker redelivers those that were not acknowledged. */
  lose(): void {
    this.#received = []
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#received = []
    this.#store.abandon()
    await this.#running
  }

  async #run(): Promise<void> {
    while (this.#received.length > 0 && !this.#isStopped) {
      const batch = this.#received.splice(0)
      const readable = await this.#read(batch)
      for (const part of inParts(readable)) {
        if (!(await this.#untilDone(() => this.#handle(part)))) return
        for (const { consumed } of part) consumed.acknowledge()
      }
    }
  }

  async #read(batch: readonly Consumed[]): Promise<Received[]> {
    const readable: Received[] = []
    for (const consumed of batch) {
      const read = readMessage(resultsMessage, consumed.message.content)
      if (read.ok) readable.push({ consumed, message: read.message })
      else if (await this.#untilDone(() => this.#options.onRejected(consumed, read.problem)))
        consumed.acknowledge()
    }
    return readable
  }

  /** Retries while the database or the broker is unavailable. False: stopped. */
  async #untilDone(work: () => Promise<void>): Promise<boolean> {
    for (let backoffMs = minBackoffMs; !this.#isStopped; backoffMs = Math.min(backoffMs * 2, maxBackoffMs)) {
      try {
        await work()
        return true
      } catch (error) {
        const level = isTransientError(error) ? 'warn' : 'error'
        this.#options.logger[level](
          { error: String(error) },
          'Results of workers could not be stored; trying again',
        )
        await new Promise((resolve) => setTimeout(resolve, backoffMs))
      }
    }
    return false
  }

  async #handle(part: readonly Received[]): Promise<void> {
    const { database, relay, dispatcher } = this.#options
    const [first] = part
    if (first === undefined) return
    const { message, consumed } = first
    switch (message.kind) {
      case 'join':
        return relay.join(message, consumed.message.properties.replyTo as string | undefined)
      case 'leave':
        await retireWorker(database, message.worker)
        return dispatcher.forget(message.worker)
      case 'blocked':
        return reportBlocked(database, message.worker, message.blocking, message.unbegun)
      case 'unblocked':
        return clearBlocked(database, message.worker)
      case 'died':
        await buryWorker(database, message.worker, null, message.worker)
        return dispatcher.forget(message.worker)
      case 'tick':
        return noteBrokerTick(database, 'results', message.atMs)
      case 'slots':
      case 'starts':
      case 'results':
        return this.#settle(part)
    }
  }

  async #settle(part: readonly Received[]): Promise<void> {
    const starts = new Map<number, Start>()
    const entries: JournalEntry[] = []
    for (const { message, consumed } of part) {
      const replyTo = consumed.message.properties.replyTo as string | undefined
      if (message.kind === 'starts') {
        const start = startsOf(starts, message.worker, replyTo)
        start.tokens.push(...message.starts)
        if (message.asks === true) for (const { claimId } of message.starts) start.asked.add(claimId)
      }
      if (message.kind !== 'results') continue
      for (const entry of message.entries) {
        const { worker, record, job } = entry
        entries.push({ worker, record, ...(job !== undefined && { job }) })
        if (record.claim > 0)
          startsOf(starts, worker, undefined).tokens.push({ runId: record.id, claimId: record.claim })
      }
    }
    for (const [worker, start] of starts) await this.#start(worker, start)
    const refused = await this.#store.settle(entries)
    if (refused === null) throw new Error('stopped before the results were stored')
    if (entries.length > 0) this.#options.onSettled(entries, refused)
    if (entries.length > 0)
      await clearProgress(
        this.#options.database,
        entries.map(({ record }) => record.id),
      )
    for (const { message } of part) {
      if (message.kind === 'slots')
        this.#options.dispatcher.announce(message.worker, message.free, message.maxRuns ?? 1)
    }
    this.#options.dispatcher.ring()
  }

  async #start(worker: number, { tokens, asked, replyTo }: Start): Promise<void> {
    const { database, link } = this.#options
    // Deduplicate: a claim named by both its start and a result would be reported as started already.
    const byClaim = new Map(tokens.map((token) => [token.claimId, token]))
    const lost = new Set(await startDispatched(database, worker, [...byClaim.values()]))
    if (replyTo === undefined) return
    // Judge by claim: a worker may have received the same run under two claims, of which one is no longer valid.
    const dropped = [...byClaim.values()].filter(({ claimId }) => lost.has(claimId))
    const started = [...byClaim.values()].filter(({ claimId }) => asked.has(claimId) && !lost.has(claimId))
    if (dropped.length > 0) link.tell(replyTo, encodeMessage({ kind: 'dropped', worker, runs: dropped }))
    if (started.length > 0) link.tell(replyTo, encodeMessage({ kind: 'started', worker, runs: started }))
  }
}

interface Start {
  readonly tokens: DispatchToken[]
  /** Claims for which the worker waits for an answer. */
  readonly asked: Set<number>
  replyTo: string | undefined
}

function startsOf(starts: Map<number, Start>, worker: number, replyTo: string | undefined): Start {
  let start = starts.get(worker)
  if (start === undefined) {
    start = { tokens: [], asked: new Set(), replyTo }
    starts.set(worker, start)
  }
  start.replyTo ??= replyTo
  return start
}

/**
 * Consecutive starts, results and slots are handled together. Other messages are handled alone, because their meaning depends on the messages before
 * them.
 */
function inParts(messages: readonly Received[]): Received[][] {
  const parts: Received[][] = []
  let group: Received[] | null = null
  for (const received of messages) {
    const { kind } = received.message
    if (kind === 'slots' || kind === 'starts' || kind === 'results') {
      if (group === null) parts.push((group = []))
      group.push(received)
    } else {
      parts.push([received])
      group = null
    }
  }
  return parts
}
