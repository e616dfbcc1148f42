import { formatId } from '../core/delivery/ids.ts'
import { LiveSample } from '../engine/live-sample.ts'
import type { JournalEntry } from './journal.ts'

/** A run that has ended, as shown to those who follow the stream. */
export interface EndedRun {
  readonly at: string
  readonly runId: string
  readonly job: string
  readonly outcome: string
  readonly attempt: number
  /** Of its last attempt; null when it ended without one. */
  readonly durationMs: number | null
  readonly error: string | null
}

const maxErrorLength = 120

/** Tells followers of the stream which runs have ended here; their results are committed. */
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
