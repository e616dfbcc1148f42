import type { SampleContext, SettingValue } from '../harness/row.ts'
import type { Payload } from '../workload/payload.ts'

/** `throughput` and `latency` may need different settings; each contender brings its best for both. */
export type Purpose = 'throughput' | 'latency'

/** What messages have beside their payload, by their sequence number. A contender that lacks one throws `Unavailable`. */
export interface EnqueueOptions {
  /** All of them fall due at this time. */
  readonly deliverAt?: Date
  /** Each falls due so long after the call that enqueues it. */
  readonly delayMs?: number
  /** One message of a key at a time, in order. */
  readonly orderingKey?: (sequence: number) => string
  /** One run of a key at a time, in whatever order. */
  readonly concurrencyKey?: (sequence: number) => string
  /** 0 to 3, the highest first. */
  readonly priority?: (sequence: number) => number
  /** At most one unfinished message of a key. */
  readonly uniqueKey?: (sequence: number) => string
}

export type Handler = (payload: Payload) => void

/** A contender made ready on an empty store: connected, migrated, its queue created. */
export interface Session {
  settings: Record<string, SettingValue>
  /** Resolves when all are committed. Batch size and connections are the contender's choice. */
  enqueueAll(payloads: readonly Payload[], options?: EnqueueOptions): Promise<void>
  enqueueOne(payload: Payload): Promise<void>
  /** `options`: what the messages will have; some contenders need other settings for it. */
  startWorkers(handle: Handler, options?: EnqueueOptions): Promise<void>
  /** Whether every completion is committed: nothing waits, nothing is in progress. */
  isDrained(): Promise<boolean>
  close(): Promise<void>
}

export interface Contender {
  name: string
  open(context: SampleContext, purpose: Purpose): Promise<Session>
}

/** When a message that is enqueued now falls due, if not at once. */
export function dueAt({ deliverAt, delayMs }: EnqueueOptions): Date | undefined {
  return delayMs === undefined ? deliverAt : new Date(Date.now() + delayMs)
}

/** Runs `work` over the items with a fixed number of loops. */
export async function forEachConcurrently<T>(
  items: readonly T[],
  concurrency: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0
  const loop = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item)
  }
  await Promise.all(Array.from({ length: concurrency }, loop))
}
