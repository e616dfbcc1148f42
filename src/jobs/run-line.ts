import type { ClaimedRun } from '../storage/claim-runs.ts'
import type { RunRecord } from '../storage/settle-runs.ts'

export interface QueuedRun {
  readonly run: ClaimedRun
  /** The incarnation that claimed the run. */
  readonly worker: number
  readonly claimedAtMs: number
  /** The run's slot on the work board. */
  readonly slot: number
}

/**
 * The worker's local queue: runs that were claimed and have not started, in the order of their claims. Runs with the same ordering key start one
 * after the other.
 */
export class RunLine {
  #line: QueuedRun[] = []
  #lineStart = 0
  #bytes = 0
  /** Runs that wait for an earlier run of their ordering key, by key. */
  readonly #chains = new Map<string, QueuedRun[]>()

  /** Number of runs that may start when there is a slot. */
  get length(): number {
    return this.#line.length - this.#lineStart
  }

  /** Approximate size of the bodies. */
  get bytes(): number {
    return this.#bytes
  }

  get waiting(): readonly QueuedRun[] {
    return this.#line.slice(this.#lineStart)
  }

  /** Runs that were executing when a worker crashed go to the front: the shorter they stay here, the fewer crashes of other runs count for them. */
  add(runs: readonly QueuedRun[]): void {
    for (const queued of runs) {
      this.#bytes += sizeOf(queued)
      if (queued.run.crashes === 0 && !this.#isChained(queued)) this.#line.push(queued)
    }
    const suspects = runs.filter((queued) => queued.run.crashes > 0 && !this.#isChained(queued))
    if (suspects.length > 0) this.#line.splice(this.#lineStart, 0, ...suspects)
  }

  /** This run is executing: runs of its ordering key wait for it. */
  hold(run: ClaimedRun): void {
    const key = chainOf(run)
    if (key !== null && !this.#chains.has(key)) this.#chains.set(key, [])
  }

  /** Removes and returns the next run. */
  next(): QueuedRun | undefined {
    const next = this.#line[this.#lineStart]
    if (next === undefined) return undefined
    this.#lineStart += 1
    this.#bytes -= sizeOf(next)
    if (this.#lineStart > 1000 || this.#lineStart === this.#line.length) {
      this.#line = this.#line.slice(this.#lineStart)
      this.#lineStart = 0
    }
    return next
  }

  /** Removes and returns up to `maxRuns` more runs of the same job, to run in one batch. A run with a crash runs alone. */
  takeMore(jobId: number, maxRuns: number): readonly QueuedRun[] {
    const taken: QueuedRun[] = []
    const left: QueuedRun[] = []
    for (const queued of this.#line.slice(this.#lineStart)) {
      const { run } = queued
      if (taken.length < maxRuns && run.jobId === jobId && run.crashes === 0) taken.push(queued)
      else left.push(queued)
    }
    if (taken.length === 0) return taken
    this.#line = left
    this.#lineStart = 0
    for (const queued of taken) this.#bytes -= sizeOf(queued)
    return taken
  }

  /** Removes this run, if it is here. `isFirst`: later runs of its ordering key may wait for it. */
  remove(runId: number): { readonly queued: QueuedRun; readonly isFirst: boolean } | null {
    const at = this.#line.findIndex(({ run }, place) => place >= this.#lineStart && run.id === runId)
    const [first] = at < 0 ? [] : this.#line.splice(at, 1)
    if (first !== undefined) {
      this.#bytes -= sizeOf(first)
      return { queued: first, isFirst: true }
    }
    for (const waiting of this.#chains.values()) {
      const link = waiting.findIndex(({ run }) => run.id === runId)
      const [queued] = link < 0 ? [] : waiting.splice(link, 1)
      if (queued === undefined) continue
      this.#bytes -= sizeOf(queued)
      return { queued, isFirst: false }
    }
    return null
  }

  /**
   * A run has ended. If it ended for good, the next run of its ordering key may start; if it will run again, the later runs of the key are released,
   * and returned from this call.
   */
  endLink(run: ClaimedRun, action: RunRecord['action']): readonly QueuedRun[] {
    const key = chainOf(run)
    const waiting = key === null ? undefined : this.#chains.get(key)
    if (key === null || waiting === undefined) return []
    if (action === 'retry' || action === 'release') {
      this.#chains.delete(key)
      return this.#taken(waiting)
    }
    const next = waiting.shift()
    if (next === undefined) {
      this.#chains.delete(key)
    } else if (this.#lineStart > 0) {
      this.#lineStart -= 1
      this.#line[this.#lineStart] = next
    } else {
      this.#line.unshift(next)
    }
    return []
  }

  /** Removes and returns runs that have waited this long. */
  takeStale(maxWaitMs: number): readonly QueuedRun[] {
    const stale: QueuedRun[] = []
    for (const waiting of this.#chains.values()) {
      if (performance.now() - (waiting[0]?.claimedAtMs ?? Number.POSITIVE_INFINITY) >= maxWaitMs)
        stale.push(...this.#taken(waiting.splice(0)))
    }
    const oldest = this.#line[this.#lineStart]
    if (oldest === undefined || performance.now() - oldest.claimedAtMs < maxWaitMs) return stale
    return [...stale, ...this.takeAll()]
  }

  takeAll(): readonly QueuedRun[] {
    const all = [...this.waiting, ...[...this.#chains.values()].flat()]
    this.#line = []
    this.#lineStart = 0
    this.#bytes = 0
    this.#chains.clear()
    return all
  }

  #taken(runs: readonly QueuedRun[]): readonly QueuedRun[] {
    for (const queued of runs) this.#bytes -= sizeOf(queued)
    return runs
  }

  /** Whether the run has to wait for another one of its ordering key; if not, later runs of the key wait for it. */
  #isChained(queued: QueuedRun): boolean {
    const key = chainOf(queued.run)
    if (key === null) return false
    const waiting = this.#chains.get(key)
    if (waiting === undefined) this.#chains.set(key, [])
    else waiting.push(queued)
    return waiting !== undefined
  }
}

function sizeOf({ run }: QueuedRun): number {
  return run.body?.length ?? 0
}

function chainOf({ laneId, orderingKey }: ClaimedRun): string | null {
  return orderingKey === null ? null : `${laneId} ${orderingKey}`
}
