import type { Database } from './database.ts'

export interface AuditRecord {
  readonly id: number
  readonly at: Date
  readonly actor: string
  readonly action: string
  readonly subject: string
  readonly detail: Record<string, unknown>
}

export interface AuditFilter {
  readonly beforeId: number | null
  readonly subject: string | null
  readonly action: string | null
  readonly actor: string | null
}

/** The newest first. Indexes: audit_log_pkey, audit_log_subject, audit_log_action, audit_log_actor. */
export async function listAudit(
  database: Database,
  { beforeId, subject, action, actor }: AuditFilter,
  limit: number,
): Promise<AuditRecord[]> {
  const conditions: string[] = []
  const values: unknown[] = [limit]
  const add = (column: string, comparison: string, value: unknown): void => {
    if (value === null) return
    values.push(value)
    conditions.push(`${column} ${comparison} $${values.length}`)
  }
  add('id', '<', beforeId)
  add('subject', '=', subject)
  add('action', '=', action)
  add('actor', '=', actor)
  const where = conditions.length === 0 ? '' : `where ${conditions.join(' and ')}`
  return database.query<AuditRecord>(
    {
      // One name per set of conditions: a name stands for one text.
      name: `list_audit_${[beforeId, subject, action, actor].map((value) => (value === null ? 0 : 1)).join('')}`,
      text: `select id, at, actor, action, subject, detail from holdfast_internal.audit_log ${where} order by id desc limit $1`,
    },
    values,
  )
}

export interface NewAuditEntry {
  readonly actor: string
  readonly action: string
  readonly subject: string
  readonly detail?: Readonly<Record<string, unknown>>
}

/** For what changes no row of its own; a change writes its entry in its own statement. */
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
