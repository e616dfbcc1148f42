import type { EndpointSettings } from '../core/endpoint-config.ts'
import type { Database } from './database.ts'
import type { ShorthandPattern } from './routes.ts'

/** An endpoint as it is listed: its settings, its state, and nothing secret. */
export interface EndpointRecord {
  readonly id: number
  readonly name: string
  readonly transport: string
  readonly tenant: string | null
  readonly tags: readonly string[]
  readonly contact: string | null
  readonly preset: string
  readonly config: Record<string, unknown>
  readonly settings: Record<string, unknown>
  /** The patterns of its shorthand routes. */
  readonly eventTypes: readonly string[]
  readonly state: 'active' | 'paused' | 'rejecting' | 'disabled'
  readonly stateReason: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

const storedEventTypes = `array(
  select event_type from holdfast.routes where lane_id = endpoint.id and is_shorthand order by routes.id
)`

function columns(eventTypes: string = storedEventTypes): string {
  return `endpoint.id, endpoint.name, transport, tenant, tags, contact, preset, config, settings, ${eventTypes} as "eventTypes",
    state, state_reason as "stateReason", created_at as "createdAt", updated_at as "updatedAt"`
}

/** The part of the settings that is stored as one document; the rest has columns of its own. */
function policyOf(settings: EndpointSettings): object {
  const { retry, request, circuit, limits, autoDisable, onDead, batch } = settings
  return { retry, request, circuit, limits, autoDisable, onDead, batch }
}

/** Undefined when the name is taken. Index: endpoints_name_key. */
export async function insertEndpoint(
  database: Database,
  settings: EndpointSettings,
  patterns: readonly ShorthandPattern[],
  actor: string,
): Promise<EndpointRecord | undefined> {
  const rows = await database.query<EndpointRecord>(
    {
      name: 'insert_endpoint',
      text: `
        with created as (
          insert into holdfast.endpoints (name, transport, tenant, tags, contact, preset, config, settings)
          values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (name) do nothing returning *
        ), routed as (
          insert into holdfast.routes (name, tenant, event_type, exact_type, like_pattern, segments, regex, lane_id, is_shorthand)
          select given.name, created.tenant, event_type, exact_type, like_pattern, segments, regex, created.id, true
          from created, unnest($10::text[], $11::text[], $12::text[], $13::text[], $14::int[], $15::text[])
            as given (name, event_type, exact_type, like_pattern, segments, regex)
        ), noted as (
          select holdfast.audit($9, 'endpoint.created', 'lane:' || id, jsonb_build_object('name', name)),
                 pg_notify('holdfast_lanes', id::text)
          from created
        )
        select ${columns('$11::text[]')} from created as endpoint, noted`,
    },
    [
      settings.name,
      settings.transport,
      settings.tenant,
      settings.tags,
      settings.contact,
      settings.preset,
      JSON.stringify(settings.config),
      JSON.stringify(policyOf(settings)),
      actor,
      patterns.map((pattern) => pattern.name),
      patterns.map((pattern) => pattern.text),
      patterns.map((pattern) => pattern.exact),
      patterns.map((pattern) => pattern.like),
      patterns.map((pattern) => pattern.segments),
      patterns.map((pattern) => pattern.regex),
    ],
  )
  return rows[0]
}

/** Undefined when there is none of this name. Index: endpoints_name_key. */
export async function updateEndpoint(
  database: Database,
  settings: EndpointSettings,
  actor: string,
): Promise<EndpointRecord | undefined> {
  const rows = await database.query<EndpointRecord>(
    {
      name: 'update_endpoint',
      text: `
        with changed as (
          update holdfast.endpoints set transport = $2, tenant = $3, tags = $4, contact = $5, preset = $6, config = $7, settings = $8,
            updated_at = clock_timestamp(), changed_xid = pg_current_xact_id()
          where name = $1 returning *
        ), noted as (
          select holdfast.audit($9, 'endpoint.updated', 'lane:' || id, jsonb_build_object('name', name)),
                 pg_notify('holdfast_lanes', id::text)
          from changed
        )
        select ${columns()} from changed as endpoint, noted`,
    },
    [
      settings.name,
      settings.transport,
      settings.tenant,
      settings.tags,
      settings.contact,
      settings.preset,
      JSON.stringify(settings.config),
      JSON.stringify(policyOf(settings)),
      actor,
    ],
  )
  return rows[0]
}

/** Index: endpoints_name_key. */
export async function readEndpoint(database: Database, name: string): Promise<EndpointRecord | undefined> {
  const rows = await database.query<EndpointRecord>(
    {
      name: 'read_endpoint',
      text: `select ${columns()} from holdfast.endpoints as endpoint where name = $1`,
    },
    [name],
  )
  return rows[0]
}

/** By name, after `afterName`. Index: endpoints_name_key. */
export async function listEndpoints(
  database: Database,
  afterName: string,
  limit: number,
): Promise<EndpointRecord[]> {
  return database.query<EndpointRecord>(
    {
      name: 'list_endpoints',
      text: `select ${columns()} from holdfast.endpoints as endpoint where name > $1 order by name limit $2`,
    },
    [afterName, limit],
  )
}

/** Endpoints whose cooldown after an automatic disabling is over. Index: endpoints_reenable. */
export async function reenableEndpoints(database: Database): Promise<void> {
  await database.query(
    { name: 'reenable_endpoints', text: `select holdfast.reenable_endpoints('holdfast')` },
    [],
  )
}

/** How many owed deliveries were cancelled. Indexes: endpoints_name_key, deliveries_ready. */
export async function deleteEndpoint(
  database: Database,
  name: string,
  isForced: boolean,
  actor: string,
): Promise<number> {
  const rows = await database.query<{ cancelled: number }>(
    { name: 'delete_endpoint', text: 'select holdfast.delete_endpoint($1, $2, $3) as cancelled' },
    [name, isForced, actor],
  )
  return rows[0]?.cancelled ?? 0
}
