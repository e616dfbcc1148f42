import type { Database } from '../storage/database.ts'
import { type NoticeRow, readNotices } from '../storage/notices.ts'
import { nothingRead } from '../storage/watermark.ts'

const maxRowsPerRead = 1000

/**
 * What nodes are told by NOTIFY though no row shows it (a route or endpoint that is gone, deliveries that were ended), read from a table with
 * the heartbeat: a node that no notification reaches, or that missed one, learns of it within a beat.
 */
export class Notices {
  readonly #database: Database
  /** Seen, and written by a transaction that the next read looks at again. */
  #told = new Set<number>()
  #watermark = nothingRead

  constructor(database: Database) {
    this.#database = database
  }

  /** Up to where they have been read. */
  get watermark(): string {
    return this.#watermark
  }

  /** Starts from now: what was told before is in the rows that are read from now on. */
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
      // The first snapshot's: who was running then may have written behind the later pages.
      next ??= watermark
      for (const row of rows) {
        // After a crash of the server between two pages the second begins anew.
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
