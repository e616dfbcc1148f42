import type { Database } from './database.ts'

export interface EventTypeRecord {
  readonly name: string
  readonly description: string | null
  readonly schema: Record<string, unknown> | null
  readonly criticality: 'best_effort' | 'standard' | 'critical' | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

const columns = `name, description, schema, (array['best_effort', 'standard', 'critical'])[criticality + 1] as criticality,
  created_at as "createdAt", updated_at as "updatedAt"`

/** Returns undefined if the type should be new but exists. Index: event_types_pkey. */
export async function writeEventType(
  database: Database,
  mode: 'insert' | 'upsert',
  eventType: Pick<EventTypeRecord, 'name' | 'description' | 'schema' | 'criticality'>,
  actor: string,
): Promise<EventTypeRecord | undefined> {
  const onConflict =
    mode === 'insert'
      ? 'on conflict (name) do nothing'
      : `on conflict (name) do update set description = excluded.description, schema = excluded.schema,
           criticality = excluded.criticality, updated_at = clock_timestamp(), changed_xid = pg_current_xact_id()`
  const rows = await database.query<EventTypeRecord>(
    {
      name: `event_type_${mode}`,
      text: `
        with previous as (
          select * from holdfast_internal.event_types where name = $1
        ), written as (
          insert into holdfast_internal.event_types (name, description, schema, criticality) values ($1, $2, $3, holdfast_internal.criticality_code($4))
          ${onConflict} returning *
        ), noted as (
          select holdfast_internal.audit($5, 'event_type.written', 'event-type:' || written.name,
            holdfast_internal.changes(coalesce(to_jsonb(previous) - '{created_at,updated_at,changed_xid}'::text[], '{}'),
                             to_jsonb(written) - '{created_at,updated_at,changed_xid}'::text[]))
          from written left join previous on true
        )
        select ${columns} from written, noted`,
    },
    [
      eventType.name,
      eventType.description,
      eventType.schema === null ? null : JSON.stringify(eventType.schema),
      eventType.criticality,
      actor,
    ],
  )
  return rows[0]
}

/** Index: event_types_pkey. */
export async function readEventTypes(
  database: Database,
  names: readonly string[],
): Promise<EventTypeRecord[]> {
  return database.query<EventTypeRecord>(
    {
      name: 'read_event_types',
      text: `select ${columns} from holdfast_internal.event_types where name = any ($1::text[])`,
    },
    [names],
  )
}

/** The fields of these types that a publisher needs. Index: event_types_pkey. */
export async function readEventSchemas(
  database: Database,
  names: readonly string[],
): Promise<Pick<EventTypeRecord, 'name' | 'schema'>[]> {
  return database.query(
    {
      name: 'read_event_schemas',
      text: 'select name, schema from holdfast_internal.event_schemas($1::text[])',
    },
    [names],
  )
}

/** By name, after `afterName`. Index: event_types_pkey. */
export async function listEventTypes(
  database: Database,
  afterName: string,
  limit: number,
): Promise<EventTypeRecord[]> {
  return database.query<EventTypeRecord>(
    {
      name: 'list_event_types',
      text: `select ${columns} from holdfast_internal.event_types where name > $1 order by name limit $2`,
    },
    [afterName, limit],
  )
}

/** Returns false if there was no such type. Index: event_types_pkey. */
export async function deleteEventType(database: Database, name: string, actor: string): Promise<boolean> {
  const rows = await database.query(
    {
      name: 'delete_event_type',
      text: `
        with deleted as (delete from holdfast_internal.event_types where name = $1 returning name)
        select holdfast_internal.audit($2, 'event_type.deleted', 'event-type:' || name) from deleted`,
    },
    [name, actor],
  )
  return rows.length > 0
}
