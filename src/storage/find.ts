import type { Database } from './database.ts'
import { type FoundIds, maxScannedPerPage } from './page.ts'

const finders = {
  dead_letters: 'select ids, scanned_to as "scannedTo" from holdfast_internal.find_letters($1, $2, $3, $4)',
  deliveries: 'select ids, scanned_to as "scannedTo" from holdfast_internal.find_deliveries($1, $2, $3, $4)',
  runs: 'select ids, scanned_to as "scannedTo" from holdfast_internal.find_runs($1, $2, $3, $4)',
  audit: 'select ids, scanned_to as "scannedTo" from holdfast_internal.find_audit($1, $2, $3, $4)',
  events: 'select ids, scanned_to as "scannedTo" from holdfast_internal.find_events($1, $2, $3, $4)',
} as const

/**
 * The newest ids before `before` that a filter meets. Which index serves it depends on the filter and is said in the SQL functions; none looks at
 * more than about `maxScannedPerPage` rows of a place.
 */
export async function find(
  database: Database,
  what: keyof typeof finders,
  filter: object,
  before: number,
  maxRows: number,
): Promise<FoundIds> {
  const rows = await database.query<FoundIds>({ name: `find_${what}`, text: finders[what] }, [
    JSON.stringify(filter),
    before,
    maxRows,
    maxScannedPerPage,
  ])
  return rows[0] ?? { ids: [], scannedTo: null }
}
