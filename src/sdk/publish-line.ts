import { HoldfastError } from '../core/errors.ts'
import { translateError } from '../storage/translate-error.ts'
import type { PublishedEvent } from './messages.ts'
import type { PreparedEvent } from './publisher.ts'

interface Waiting {
  readonly event: PreparedEvent
  readonly resolve: (published: PublishedEvent) => void
  readonly reject: (error: unknown) => void
}

export interface PublishLineLimits {
  /** 1: every event is stored by itself. */
  readonly maxBatchEvents: number
  /** With two, the next batch is inserted while the previous one commits. */
  readonly maxBatchesInFlight: number
}

const defaultLimits: PublishLineLimits = { maxBatchEvents: 500, maxBatchesInFlight: 2 }
const maxBatchBytes = 4 * 1024 * 1024
/** Failures that affect every event of the batch: splitting the batch to find the cause would only add load. */
const sharedFailures: ReadonlySet<string> = new Set(['database_unavailable', 'query_timeout', 'not_migrated'])

/**
 * Stores events that are published at the same time in one statement and one commit. It adds no delay: the first event is stored at once, and events
 * that arrive meanwhile form the next batch. Each event gets its own result; a failing event fails no other one.
 */
export class PublishLine {
  readonly #store: (events: readonly PreparedEvent[]) => Promise<PublishedEvent[]>
  readonly #limits: PublishLineLimits
  #waiting: Waiting[] = []
  #inFlight = 0

  constructor(
    store: (events: readonly PreparedEvent[]) => Promise<PublishedEvent[]>,
    limits: PublishLineLimits = defaultLimits,
  ) {
    this.#store = store
    this.#limits = limits
  }

  /** Resolves after the commit. */
  publish(event: PreparedEvent): Promise<PublishedEvent> {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ event, resolve, reject })
      if (this.#inFlight < this.#limits.maxBatchesInFlight) this.#flush()
    })
  }

  #flush(): void {
    const batch = this.#takeBatch()
    if (batch.length === 0) return
    this.#inFlight += 1
    // `#storeApart` settles each event's own promise and never rejects.
    void this.#storeApart(batch).finally(() => {
      this.#inFlight -= 1
      this.#flush()
    })
  }

  #takeBatch(): Waiting[] {
    const { maxBatchEvents } = this.#limits
    let bytes = 0
    let count = 0
    for (const { event } of this.#waiting) {
      bytes += event.body.length
      if (count > 0 && (count >= maxBatchEvents || bytes > maxBatchBytes)) break
      count += 1
    }
    return this.#waiting.splice(0, count)
  }

  async #storeApart(batch: readonly Waiting[]): Promise<void> {
    try {
      const published = await this.#store(batch.map(({ event }) => event))
      batch.forEach(({ resolve }, index) => {
        const one = published[index]
        if (one !== undefined) resolve(one)
      })
    } catch (thrown) {
      const error = translateError(thrown)
      if (batch.length === 1 || isShared(error)) {
        for (const { reject } of batch) reject(error)
        return
      }
      const middle = Math.ceil(batch.length / 2)
      await this.#storeApart(batch.slice(0, middle))
      await this.#storeApart(batch.slice(middle))
    }
  }
}

/** The limit on all pending deliveries affects every event; the limit of one endpoint affects only some. */
function isShared(error: unknown): boolean {
  if (!(error instanceof HoldfastError)) return false
  if (error.code === 'queue_full')
    return (error.cause as { constraint?: string } | undefined)?.constraint === 'max_pending'
  return sharedFailures.has(error.code)
}
