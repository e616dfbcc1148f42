import { numberArray } from './array-literal.ts'
import type { Database } from './database.ts'

export interface AuditRecord {
  readonly id: number
  readonly at: Date
  readonly actor: string
  readonly action: string
  readonly subject: string
  readonly detail: Record<string, unknown>
}

/** In the order of the ids given; `find` returns the ids that match a filter. Index: audit_log_pkey. */
export async function readAudit(database: Database, ids: readonly number[]): Promise<AuditRecord[]> {
  return database.query<AuditRecord>(
    {
      name: 'read_audit',
      text: `
        select entry.id, entry.at, entry.actor, entry.action, entry.subject, entry.detail
        from unnest($1::bigint[]) with ordinality as asked (id, place)
        cross join lateral (select * from holdfast_internal.audit_log where id = asked.id limit 1) as entry
        order by asked.place`,
    },
    [numberArray(ids)],
  )
}

export interface NewAuditEntry {
  readonly actor: string
  readonly action: string
  readonly subject: string
  readonly detail?: Readonly<Record<string, unknown>>
}

/** For actions that change no row; a change writes its audit entry in its own statement. */
export async function writeAudit(
  database: Database,
  { actor, action, subject, detail = {} }: NewAuditEntry,
): Promise<void> {
  await database.query({ name: 'write_audit', text: 'select holdfast_internal.audit($1, $2, $3, $4)' }, [
    actor,
    action,
    subject,
    JSON.stringify(detail),
  ])
}
