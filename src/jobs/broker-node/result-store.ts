import { formatId } from '../../core/delivery/ids.ts'
import { BatchCommitter } from '../../engine/batch-committer.ts'
import type { Logger } from '../../engine/logger.ts'
import type { Database } from '../../storage/database.ts'
import {
  quarantineRun,
  type RunRecord,
  settleRunFailures,
  settleRunSuccesses,
} from '../../storage/settle-runs.ts'
import type { JournalEntry } from '../journal.ts'

/**
 * Commits results received from the broker, with the same functions that workers use. It waits for the database, halves a batch that fails on data,
 * and quarantines results that can't be stored.
 */
export class ResultStore {
  readonly #database: Database
  readonly #committer: BatchCommitter

  constructor(database: Database, logger: Logger) {
    this.#database = database
    this.#committer = new BatchCommitter({
      logger,
      hasMore: () => false,
      commitNext: () => Promise.resolve(),
      onAway() {},
    })
  }

  /** Returns the runs whose decision was refused; null if abandoned. */
  async settle(entries: readonly JournalEntry[]): Promise<ReadonlySet<number> | null> {
    const refused = new Set<number>()
    const groups = [...byWorker(entries)]
    // Successes first, as workers do: they are facts, and need no lease.
    for (const [worker, records] of groups) {
      const successes = records.filter(({ action }) => action === 'succeed')
      if (!(await this.#commitSuccesses(worker, successes))) return null
    }
    for (const [worker, records] of groups) {
      const failures = records.filter(({ action }) => action !== 'succeed')
      if (!(await this.#commitFailures(worker, failures, refused))) return null
    }
    return refused
  }

  abandon(): void {
    this.#committer.abandon()
  }

  #commitSuccesses(worker: number, successes: readonly RunRecord[]): Promise<boolean> {
    return this.#committer.commit(
      {
        // The claim of a message ends with the last of its runs.
        store: (records) =>
          settleRunSuccesses(this.#database, worker, records, claimsOf(records), Date.now()),
        onStored() {},
        withoutTexts: (record) => (record.detail === null ? null : { ...record, detail: null }),
        quarantine: (record, cause) => this.#quarantine(worker, record, cause),
        onQuarantined() {},
      },
      successes,
    )
  }

  #commitFailures(worker: number, failures: readonly RunRecord[], refused: Set<number>): Promise<boolean> {
    return this.#committer.commit(
      {
        store: (records) => settleRunFailures(this.#database, worker, records, claimsOf(records), Date.now()),
        onStored: (_: readonly RunRecord[], ids: readonly number[]) => {
          for (const id of ids) refused.add(id)
        },
        withoutTexts: (record) =>
          record.detail === null && record.error === null ? null : { ...record, detail: null, error: null },
        quarantine: (record, cause) => this.#quarantine(worker, record, cause),
        onQuarantined() {},
      },
      failures,
    )
  }

  async #quarantine(worker: number, record: RunRecord, cause: Error): Promise<Record<string, unknown>> {
    const correlationId = await quarantineRun(this.#database, worker, record, String(cause))
    return { runId: formatId('run', record.id), correlationId }
  }
}

function claimsOf(records: readonly RunRecord[]): number[] {
  return [...new Set(records.map(({ claim }) => claim))].filter((claim) => claim > 0)
}

function byWorker(entries: readonly JournalEntry[]): Map<number, RunRecord[]> {
  const groups = new Map<number, RunRecord[]>()
  for (const { worker, record } of entries) {
    const records = groups.get(worker)
    if (records === undefined) groups.set(worker, [record])
    else records.push(record)
  }
  return groups
}
