import type { ClaimedRun } from '../storage/claim-runs.ts'
import type { RunRecord } from '../storage/settle-runs.ts'

export interface QueuedRun {
  readonly run: ClaimedRun
  /** The incarnation that claimed it. */
  readonly worker: number
  readonly claimedAtMs: number
  /** On the work board. */
  readonly slot: number
}

/** Runs that were claimed and have not begun: in the order of their claims, those of one ordering key one behind the other. */
export class RunLine {
  #line: QueuedRun[] = []
  #lineStart = 0
  #bytes = 0
  /** By ordering key: runs that wait for the one of their key that runs, or stands in the line. */
  readonly #chains = new Map<string, QueuedRun[]>()

  /** Those that may start when there is a slot. */
  get length(): number {
    return this.#line.length - this.#lineStart
  }

  /** What the bodies take, about. */
  get bytes(): number {
    return this.#bytes
  }

  get waiting(): readonly QueuedRun[] {
    return this.#line.slice(this.#lineStart)
  }

  /** Those that were there at a crash go to the front: the less time they spend here, the fewer crashes of others they are there at. */
  add(runs: readonly QueuedRun[]): void {
    for (const queued of runs) {
      this.#bytes += sizeOf(queued)
      if (queued.run.crashes === 0 && !this.#isChained(queued)) this.#line.push(queued)
    }
    const suspects = runs.filter((queued) => queued.run.crashes > 0 && !this.#isChained(queued))
    if (suspects.length > 0) this.#line.splice(this.#lineStart, 0, ...suspects)
  }

  /** This run is at work: those of its ordering key wait for it. */
  hold(run: ClaimedRun): void {
    const key = chainOf(run)
    if (key !== null && !this.#chains.has(key)) this.#chains.set(key, [])
  }

  /** Takes out the one whose turn it is. */
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

  /** Takes out more of the same job, so many at most, to be run together with it. Those that were there at a crash run alone. */
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

  /** Takes out this run, if it is here. `isFirst`: others of its ordering key wait for it. */
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
   * A run has ended: the next of its key may go when that was for good; when it is to run again, those behind it go back. Returns what has to go
   * back.
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

  /** Takes out what has waited here for so long. */
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

  /** Whether it waits here for another run of its ordering key; if not, others wait for it from now on. */
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
