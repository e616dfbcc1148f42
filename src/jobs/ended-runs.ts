import { formatId } from '../core/delivery/ids.ts'
import { LiveSample } from '../engine/live-sample.ts'
import type { JournalEntry } from './journal.ts'

/** An ended run, as shown to followers of the stream. */
export interface EndedRun {
  readonly at: string
  readonly runId: string
  readonly job: string
  readonly outcome: string
  readonly attempt: number
  /** Duration of the last attempt; null if the run ended without one. */
  readonly durationMs: number | null
  readonly error: string | null
}

const maxErrorLength = 120

/** Publishes the runs that ended here to followers of the stream, after their results are committed. */
export class EndedRuns {
  readonly #sample: LiveSample<EndedRun>

  constructor(publish: (payload: string) => Promise<void>) {
    this.#sample = new LiveSample({ publish, write: (runs, leftOut) => ({ runs, leftOut }) })
  }

  wanted(forMs: number): void {
    this.#sample.wanted(forMs)
  }

  note({ record, job = '' }: JournalEntry, outcome: string): void {
    this.#sample.add(() => ({
      at: new Date().toISOString(),
      runId: formatId('run', record.id),
      job,
      outcome,
      attempt: record.attempt,
      durationMs: record.durationMs === null ? null : Math.round(record.durationMs),
      error: record.error?.slice(0, maxErrorLength) ?? null,
    }))
  }

  stop(): void {
    this.#sample.stop()
  }
}
