/**
 * The position up to which changes have been read: the oldest transaction that may still make unseen changes, and the server start
 * that it belongs to. Rows written by it or later are read again next time, so that a transaction that commits late isn't missed.
 *
 * After a crash, the server assigns transaction ids again that never reached the disk: a change may then have a lower id than one that was
 * read before. So a watermark of another server start is ignored, and everything is read again. The connection doesn't
 * show a restart: behind a proxy it survives.
 */

/** Identifies the server start, as an SQL expression: it changes with every restart, crash, failover and restore. Cheap enough for every poll. */
export const serverLife = `
  concat_ws('/', extract(epoch from pg_postmaster_start_time()), holdfast_internal.current_life())`

/** The watermark that has seen everything before a transaction, as an SQL expression. */
export function watermarkAt(xid: string): string {
  return `(${xid}::text || '@' || ${serverLife})`
}

/** The watermark of the statement's own snapshot. */
export const watermarkNow = watermarkAt('pg_snapshot_xmin(pg_current_snapshot())')

/** The first transaction that a watermark hasn't seen, as an SQL expression; the first of all if the watermark belongs to another server start. */
export function firstUnseen(watermark: string): string {
  return `(
    case when split_part(${watermark}::text, '@', 2) = ${serverLife} then split_part(${watermark}::text, '@', 1) else '0' end
  )::xid8`
}

/** The watermark before the first read. */
export const nothingRead = '0'
