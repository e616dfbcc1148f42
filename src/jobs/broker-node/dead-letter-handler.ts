import { dispatchMessage, readMessage } from '../../broker/protocol.ts'
import type { Logger } from '../../engine/logger.ts'
import { isTransientError } from '../../postgres/connection-error.ts'
import { readResultsThrough } from '../../storage/broker-workers.ts'
import type { Database } from '../../storage/database.ts'
import { type DispatchEnd, type EndedDispatch, endDispatches } from '../../storage/dispatches.ts'
import type { Consumed } from './broker-link.ts'

export interface DeadLetterHandlerOptions {
  readonly database: Database
  readonly logger: Logger
  readonly by: () => number
  readonly onRejected: (consumed: Consumed, problem: string) => Promise<void>
  /** `latencyMs`: from the dead-lettering, by the broker's clock in whole seconds, to the commit. */
  readonly onHandled: (outcome: DeadLetterOutcome, reason: string, latencyMs: number) => void
}

export type DeadLetterOutcome = EndedDispatch['outcome'] | 'unreadable'

interface Death {
  readonly reason: string
  readonly atMs: number | null
  readonly history: unknown
}

const minBackoffMs = 100
/** Interval of polling for the next tick; nodes send one per second. */
const lookMs = 200
const maxBackoffMs = 5000

/**
 * Settles runs whose message expired, was rejected or was returned too often before a worker started it. It uses compare-and-swap, so a run that has
 * just started is never failed. While the database is unavailable, messages stay unacknowledged and are retried.
 */
export class DeadLetterHandler {
  readonly #options: DeadLetterHandlerOptions
  #received: Consumed[] = []
  #running: Promise<void> | null = null
  #isStopped = false

  constructor(options: DeadLetterHandlerOptions) {
    this.#options = options
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

  lose(): void {
    this.#received = []
  }

  async stop(): Promise<void> {
    this.#isStopped = true
    this.#received = []
    await this.#running
  }

  async #run(): Promise<void> {
    let backoffMs = minBackoffMs
    while (this.#received.length > 0 && !this.#isStopped) {
      const batch = this.#received.slice()
      try {
        await this.#handle(batch)
        this.#received = this.#received.filter((consumed) => !batch.includes(consumed))
        backoffMs = minBackoffMs
      } catch (error) {
        const level = isTransientError(error) ? 'warn' : 'error'
        this.#options.logger[level](
          { error: String(error), messages: batch.length },
          'Dead letters of the broker could not be handled; trying again',
        )
        await new Promise((resolve) => setTimeout(resolve, backoffMs))
        backoffMs = Math.min(backoffMs * 2, maxBackoffMs)
      }
    }
  }

  /**
   * Waits until the starts in the results queue are handled: a worker may have started a message that then returned to the broker and expired. Its
   * start was published earlier, so a tick sent from now on is behind it in the queue. False: stopped, or the connection was lost.
   */
  async #untilStartsAreHandled(): Promise<boolean> {
    const { database } = this.#options
    const { nowMs: sinceMs } = await readResultsThrough(database)
    while (!this.#isStopped && this.#received.length > 0) {
      if ((await readResultsThrough(database)).throughMs >= sinceMs) return true
      await new Promise((resolve) => setTimeout(resolve, lookMs))
    }
    return false
  }

  async #handle(batch: readonly Consumed[]): Promise<void> {
    const { database, by, onRejected, onHandled } = this.#options
    const ends: { readonly consumed: Consumed; readonly end: DispatchEnd; readonly death: Death }[] = []
    for (const consumed of batch) {
      const read = readMessage(dispatchMessage, consumed.message.content)
      if (!read.ok) {
        await onRejected(consumed, read.problem)
        consumed.acknowledge()
        onHandled('unreadable', 'unreadable', 0)
        continue
      }
      const death = deathOf(consumed.message.properties.headers?.['x-death'])
      const { id: runId, claimId } = read.message.run
      ends.push({ consumed, end: { runId, claimId, reason: death.reason, history: death.history }, death })
    }
    if (ends.length === 0 || !(await this.#untilStartsAreHandled())) return
    const ended = await endDispatches(
      database,
      ends.map(({ end }) => end),
      by(),
    )
    const outcomes = new Map(ended.map(({ runId, outcome }) => [runId, outcome]))
    for (const { consumed, end, death } of ends) {
      consumed.acknowledge()
      const latencyMs = death.atMs === null ? 0 : Math.max(0, Date.now() - death.atMs)
      onHandled(outcomes.get(end.runId) ?? 'ended', death.reason, latencyMs)
    }
  }
}

/** RabbitMQ puts the newest entry of `x-death` first. */
function deathOf(header: unknown): Death {
  const history = Array.isArray(header) ? (header as readonly unknown[]) : []
  const newest = (typeof history[0] === 'object' && history[0] !== null ? history[0] : {}) as {
    readonly reason?: unknown
    readonly time?: unknown
  }
  const reason = typeof newest.reason === 'string' ? newest.reason : 'unknown'
  const seconds = timestampOf(newest.time)
  return { reason, atMs: seconds === null ? null : seconds * 1000, history: plain(history) }
}

/** amqplib reads a timestamp as `{ '!': 'timestamp', value }`. */
function timestampOf(value: unknown): number | null {
  if (typeof value !== 'object' || value === null || !('value' in value)) return null
  return typeof value.value === 'number' ? value.value : null
}

/** Converts to plain JSON, with timestamps as ISO text. */
function plain(history: readonly unknown[]): unknown {
  return JSON.parse(
    JSON.stringify(history, (_, value: unknown) => {
      const seconds = timestampOf(value)
      return seconds === null ? value : new Date(seconds * 1000).toISOString()
    }),
  ) as unknown
}
