/**
 * The oldest transaction that may still change something unseen, from a snapshot's text. Rows written by it or later are read
 * again next time, so that a writer that commits late isn't missed.
 */
export function parseWatermark(snapshot: string): string {
  return snapshot.split(':')[0] ?? '0'
}
