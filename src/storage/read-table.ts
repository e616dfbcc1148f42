import { hash } from 'node:crypto'
import type { Database } from './database.ts'

/**
 * Reads values by key from a table of the application with the columns `key` and `value`. Its name was checked when the route was written: at most
 * two plain identifiers, not a table of Holdfast. Index: the application's, on `key`.
 */
export async function readTable(
  database: Database,
  table: string,
  keys: readonly string[],
): Promise<ReadonlyMap<string, string>> {
  // Our sessions look up bare names in PostgreSQL's own schema only.
  const name = (table.includes('.') ? table : `public.${table}`)
    .split('.')
    .map((part) => `"${part.replaceAll('"', '""')}"`)
    .join('.')
  const rows = await database.query<{ key: string; value: string }>(
    {
      // Statement names are limited in length.
      name: `read_table_${hash('sha256', table, 'hex').slice(0, 16)}`,
      text: `select key::text as key, value::text as value from ${name} where key::text = any ($1::text[]) and value is not null`,
    },
    [keys],
  )
  return new Map(rows.map(({ key, value }) => [key, value]))
}
