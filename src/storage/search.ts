import type { Database } from './database.ts'

export interface FoundName {
  readonly kind: 'endpoint' | 'route' | 'event_type' | 'job' | 'queue' | 'schedule' | 'worker'
  readonly name: string
  readonly hint: string | null
}

/** By kind, then by name; at most `maxEach` of a kind. Indexes: see holdfast_internal.find_names. */
export async function findNames(database: Database, part: string, maxEach: number): Promise<FoundName[]> {
  return database.query<FoundName>(
    { name: 'find_names', text: 'select kind, name, hint from holdfast_internal.find_names($1, $2)' },
    [part, maxEach],
  )
}
