import { deferred } from './deferred.ts'

/** Observes a node that runs in the row's own process. */
export interface SettlingWatch {
  observer: {
    attempted(): void
    settled(count: number): void
    shardsTaken(): void
    shardsReleased(): void
    fenced(): void
    resumed(): void
  }
  /** Results committed so far, including retries. */
  readonly settled: number
  /** Resolves with the time at which this many were committed. */
  whenSettled(count: number): Promise<number>
}

/** Counts commits as the node reports them, so that the measured database isn't polled. */
export function watchSettling(): SettlingWatch {
  let settled = 0
  const waiting: { count: number; resolve(atMs: number): void }[] = []
  return {
    observer: {
      attempted() {},
      settled(count) {
        settled += count
        for (let next = waiting[0]; next !== undefined && settled >= next.count; next = waiting[0]) {
          waiting.shift()
          next.resolve(performance.now())
        }
      },
      shardsTaken() {},
      shardsReleased() {},
      fenced() {},
      resumed() {},
    },
    get settled() {
      return settled
    },
    whenSettled(count) {
      const reached = deferred<number>()
      waiting.push({ count, resolve: (atMs) => reached.resolve(atMs) })
      waiting.sort((first, second) => first.count - second.count)
      return reached.promise
    },
  }
}
