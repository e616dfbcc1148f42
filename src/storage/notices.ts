import type { Database } from './database.ts'
import { firstUnseen, watermarkAt, watermarkNow } from './watermark.ts'

export interface NoticeRow {
  readonly id: number
  /** A watermark that has seen everything before the transaction that wrote the notice. */
  readonly watermark: string
  readonly channel: string
  readonly payload: string
}

/** The position to continue from: all notices up to it have been seen. */
export interface NoticeCursor {
  readonly watermark: string
  readonly id: number
}

/** The next notices, and the watermark of the snapshot that showed them. Index: notices_changed. */
export async function readNotices(
  database: Database,
  after: NoticeCursor,
  maxRows: number,
): Promise<{ rows: NoticeRow[]; watermark: string }> {
  const rows = await database.query<{ notices: NoticeRow[]; watermark: string }>(
    {
      name: 'read_notices',
      text: `
        select (
          select coalesce(jsonb_agg(jsonb_build_object(
            'id', id, 'watermark', ${watermarkAt('changed_xid')}, 'channel', channel, 'payload', payload
          )), '[]')
          from (
            select id, changed_xid, channel, payload from holdfast_internal.notices
            where (changed_xid, id) > (${firstUnseen('$1')}, $2::bigint) order by changed_xid, id limit $3
          ) as next
        ) as notices, ${watermarkNow} as watermark`,
    },
    [after.watermark, after.id, maxRows],
  )
  return { rows: rows[0]?.notices ?? [], watermark: rows[0]?.watermark ?? after.watermark }
}

export interface FreedKey {
  readonly laneId: number
  readonly key: string
}

/** Notifies the owners of these lanes that deliveries behind these keys may be sent. */
export async function tellFreedKeys(database: Database, freed: readonly FreedKey[]): Promise<void> {
  await database.query(
    {
      name: 'tell_freed_keys',
      text: `
        select holdfast_internal.tell_nodes('holdfast_lanes', lane_id || ' free ' || key)
        from (select distinct * from unnest($1::int[], $2::text[])) as freed (lane_id, key)`,
    },
    [freed.map(({ laneId }) => laneId), freed.map(({ key }) => key)],
  )
}
