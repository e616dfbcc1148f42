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
 * The newest ids before `before` that match a filter. The index depends on the filter; the SQL functions document it. No
 * call reads more than about `maxScannedPerPage` rows of a table.
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

/** A position in the order of next attempts. */
export interface NextAttempt {
  readonly dueUs: number
  readonly id: number
}

export const beforeEveryAttempt: NextAttempt = { dueUs: 0, id: 0 }

interface FoundNext {
  readonly ids: readonly number[]
  readonly dueUs: readonly number[]
  readonly scannedUs: number | null
  readonly scannedId: number | null
}

/**
 * Pending deliveries that wait for their due time, the soonest first, and the start of the next page.
 * Indexes: see holdfast_internal.find_next_deliveries.
 */
export async function findNextDeliveries(
  database: Database,
  filter: object,
  after: NextAttempt,
  maxRows: number,
): Promise<{ readonly found: readonly NextAttempt[]; readonly scannedTo: NextAttempt | null }> {
  const [row] = await database.query<FoundNext>(
    {
      name: 'find_next_deliveries',
      text: `
        select ids, due_us as "dueUs", scanned_us as "scannedUs", scanned_id as "scannedId"
        from holdfast_internal.find_next_deliveries($1, $2, $3, $4, $5)`,
    },
    [JSON.stringify(filter), after.dueUs, after.id, maxRows, maxScannedPerPage],
  )
  if (row === undefined) return { found: [], scannedTo: null }
  const { ids, dueUs, scannedUs, scannedId } = row
  return {
    found: ids.map((id, place) => ({ id, dueUs: dueUs[place] ?? 0 })),
    scannedTo: scannedUs === null || scannedId === null ? null : { dueUs: scannedUs, id: scannedId },
  }
}
