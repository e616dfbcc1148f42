import type { Database } from '../storage/database.ts'
import { type NoticeRow, readNotices } from '../storage/notices.ts'
import { nothingRead } from '../storage/watermark.ts'

const maxRowsPerRead = 1000

/**
 * Changes that nodes learn by NOTIFY though no row shows them (a deleted route or endpoint, cancelled deliveries), read from a table with
 * each heartbeat: a node that receives no notifications, or missed one, learns of them within a heartbeat.
 */
export class Notices {
  readonly #database: Database
  /** Seen, and written by a transaction that the next read looks at again. */
  #told = new Set<number>()
  #watermark = nothingRead

  constructor(database: Database) {
    this.#database = database
  }

  /** The position up to which they have been read. */
  get watermark(): string {
    return this.#watermark
  }

  /** Starts from now: earlier changes are visible in the rows that are read from now on. */
  async open(): Promise<void> {
    const { watermark } = await readNotices(this.#database, { watermark: nothingRead, id: 0 }, 0)
    this.#watermark = watermark
  }

  /** Those that haven't been returned before, in no particular order. */
  async read(): Promise<NoticeRow[]> {
    const seen = new Set<number>()
    const fresh: NoticeRow[] = []
    let next: string | undefined
    let after = { watermark: this.#watermark, id: 0 }
    for (;;) {
      const { rows, watermark } = await readNotices(this.#database, after, maxRowsPerRead)
      // The first snapshot counts: transactions that were running then may have written behind the later pages.
      next ??= watermark
      for (const row of rows) {
        // After a crash of the server between two pages, the second page starts again.
        if (!this.#told.has(row.id) && !seen.has(row.id)) fresh.push(row)
        seen.add(row.id)
      }
      const last = rows.at(-1)
      if (last === undefined || rows.length < maxRowsPerRead) break
      after = { watermark: last.watermark, id: last.id }
    }
    this.#told = seen
    this.#watermark = next
    return fresh
  }
}
