/**
 * Up to where changes have been read: the oldest transaction that may still change something unseen, and the life of the server that
 * counted it. Rows written by it or later are read again next time, so that a writer that commits late isn't missed.
 *
 * A crash gives out again the numbers of transactions that never reached the disk: then a change may come under a number below one that was
 * read before. So a watermark from another life of the server counts as none, and everything is read once more. The connection tells
 * nothing: behind a proxy ours outlives the server's.
 */

/** Which life the server is in, as an expression: it changes with every restart, crash, failover and restore. Cheap enough for every look at what came in. */
export const serverLife = `
  concat_ws('/', extract(epoch from pg_postmaster_start_time()), holdfast_internal.current_life())`

/** The watermark that has seen everything before a transaction, as an expression. */
export function watermarkAt(xid: string): string {
  return `(${xid}::text || '@' || ${serverLife})`
}

/** The watermark of the statement's own snapshot. */
export const watermarkNow = watermarkAt('pg_snapshot_xmin(pg_current_snapshot())')

/** The first transaction that a watermark hasn't seen, as an expression; the first of all when it is none of this life. */
export function firstUnseen(watermark: string): string {
  return `(
    case when split_part(${watermark}::text, '@', 2) = ${serverLife} then split_part(${watermark}::text, '@', 1) else '0' end
  )::xid8`
}

/** Before anything has been read. */
export const nothingRead = '0'
