import type { Database } from '../storage/database.ts'
import { type NoticeRow, readNotices } from '../storage/notices.ts'
import { nothingRead } from '../storage/watermark.ts'

const maxRowsPerRead = 1000

/**
 * Changes that NOTIFY announces and no row shows (a deleted route or endpoint, cancelled deliveries). They are read from a table with each heartbeat,
 * so a node that receives no notifications, or missed one, learns of them within a heartbeat.
 */
export class Notices {
  readonly #database: Database
  /** Ids of the notices of the last read, some of which the next read may return again. */
  #told = new Set<number>()
  #watermark = nothingRead

  constructor(database: Database) {
    this.#database = database
  }

  /** The position up to which notices have been read. */
  get watermark(): string {
    return this.#watermark
  }

  /** Starts from now: earlier changes are visible in the rows that are read from now on. */
  async open(): Promise<void> {
    const { watermark } = await readNotices(this.#database, { watermark: nothingRead, id: 0 }, 0)
    this.#watermark = watermark
  }

  /** Returns the notices that haven't been returned before, in no particular order. */
  async read(): Promise<NoticeRow[]> {
    const seen = new Set<number>()
    const fresh: NoticeRow[] = []
    let next: string | undefined
    let after = { watermark: this.#watermark, id: 0 }
    for (;;) {
      const { rows, watermark } = await readNotices(this.#database, after, maxRowsPerRead)
      // The first snapshot counts: transactions running at that time may still add rows that later pages have passed.
      next ??= watermark
      for (const row of rows) {
        // If the server crashes between two pages, the second page starts from the beginning.
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
