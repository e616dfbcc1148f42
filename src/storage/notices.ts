import type { Database } from './database.ts'
import { parseWatermark } from './watermark.ts'

export interface NoticeRow {
  readonly id: number
  /** The transaction that wrote it. */
  readonly xid: string
  readonly channel: string
  readonly payload: string
}

/** Where to read on from: everything up to there has been seen. */
export interface NoticeCursor {
  readonly xid: string
  readonly id: number
}

/** The next notices, and the watermark of the snapshot that showed them. Index: notices_changed. */
export async function readNotices(
  database: Database,
  after: NoticeCursor,
  maxRows: number,
): Promise<{ rows: NoticeRow[]; watermark: string }> {
  const rows = await database.query<{ notices: NoticeRow[]; snapshot: string }>(
    {
      name: 'read_notices',
      text: `
        select (
          select coalesce(jsonb_agg(jsonb_build_object('id', id, 'xid', changed_xid::text, 'channel', channel, 'payload', payload)), '[]')
          from (
            select id, changed_xid, channel, payload from holdfast.notices
            where (changed_xid, id) > ($1::text::xid8, $2::bigint) order by changed_xid, id limit $3
          ) as next
        ) as notices, pg_current_snapshot()::text as snapshot`,
    },
    [after.xid, after.id, maxRows],
  )
  return { rows: rows[0]?.notices ?? [], watermark: parseWatermark(rows[0]?.snapshot ?? '') }
}
