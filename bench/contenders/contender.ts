import type { SampleContext, SettingValue } from '../harness/row.ts'
import type { Payload } from '../workload/payload.ts'

/** `throughput` and `latency` may need different settings; each contender defines its best ones for both. */
export type Purpose = 'throughput' | 'latency'

/** Options of messages, by sequence number. A contender that lacks one throws `Unavailable`. */
export interface EnqueueOptions {
  /** When all messages are due. */
  readonly deliverAt?: Date
  /** Delay of each message, from the call that enqueues it. */
  readonly delayMs?: number
  /** One message of a key at a time, in order. */
  readonly orderingKey?: (sequence: number) => string
  /** One run of a key at a time, in any order. */
  readonly concurrencyKey?: (sequence: number) => string
  /** 0 to 3, highest first. */
  readonly priority?: (sequence: number) => number
  /** At most one unfinished message of a key. */
  readonly uniqueKey?: (sequence: number) => string
}

export type Handler = (payload: Payload) => void

/** A contender, ready on an empty store: connected, migrated, with its queue created. */
export interface Session {
  settings: Record<string, SettingValue>
  /** Resolves when all are committed. The contender chooses batch size and connections. */
  enqueueAll(payloads: readonly Payload[], options?: EnqueueOptions): Promise<void>
  enqueueOne(payload: Payload): Promise<void>
  /** `options`: those that the messages will have; some contenders need other settings for them. */
  startWorkers(handle: Handler, options?: EnqueueOptions): Promise<void>
  /** Whether every completion is committed: no message is waiting or in progress. */
  isDrained(): Promise<boolean>
  close(): Promise<void>
}

export interface Contender {
  name: string
  open(context: SampleContext, purpose: Purpose): Promise<Session>
}

/** When a message that is enqueued now is due, if not at once. */
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
