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
  select event_type from holdfast.routes where lane_id = endpoint.id and is_shorthand and enabled order by routes.id
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

function columnsOf(patterns: readonly ShorthandPattern[]): unknown[] {
  return [
    patterns.map((pattern) => pattern.name),
    patterns.map((pattern) => pattern.text),
    patterns.map((pattern) => pattern.exact),
    patterns.map((pattern) => pattern.like),
    patterns.map((pattern) => pattern.segments),
    patterns.map((pattern) => pattern.regex),
  ]
}

/** A route has the name that an endpoint's shorthand needs, and isn't its own. */
export function isRouteNameTaken(error: unknown): boolean {
  const { code, constraint, column } = error as { code?: string; constraint?: string; column?: string }
  return (code === '23505' && constraint === 'routes_name_key') || (code === '23502' && column === 'lane_id')
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
      ...columnsOf(patterns),
    ],
  )
  return rows[0]
}

/**
 * Undefined when there is none of this name. Its shorthand routes become those of `patterns`: one that is dropped is switched off and kept,
 * because deliveries may be owed along it, and is deleted by a later change when none are. Indexes: endpoints_name_key, routes_lane.
 */
export async function updateEndpoint(
  database: Database,
  settings: EndpointSettings,
  patterns: readonly ShorthandPattern[],
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
        ), wanted as (
          select * from unnest($10::text[], $11::text[], $12::text[], $13::text[], $14::int[], $15::text[])
            as given (name, event_type, exact_type, like_pattern, segments, regex)
        ), dropped as (
          update holdfast.routes as route set enabled = false, updated_at = clock_timestamp(), changed_xid = pg_current_xact_id()
          from changed
          where route.lane_id = changed.id and is_shorthand and enabled and not exists (select from wanted where wanted.name = route.name)
        ), deleted as (
          delete from holdfast.routes as route using changed
          where route.lane_id = changed.id and is_shorthand and not enabled
            and not exists (select from wanted where wanted.name = route.name)
            and not exists (select from holdfast.deliveries as owed where owed.lane_id = changed.id and owed.route_id = route.id)
        ), routed as (
          insert into holdfast.routes as route (name, tenant, event_type, exact_type, like_pattern, segments, regex, lane_id, is_shorthand)
          select wanted.name, changed.tenant, event_type, exact_type, like_pattern, segments, regex, changed.id, true
          from wanted, changed
          -- A route of this name that isn't this endpoint's shorthand must be left alone: no lane is what the table refuses.
          on conflict (name) do update set tenant = excluded.tenant, enabled = true,
            lane_id = case when route.is_shorthand and route.lane_id = excluded.lane_id then route.lane_id end
        ), noted as (
          select holdfast.audit($9, 'endpoint.updated', 'lane:' || id, jsonb_build_object('name', name)),
                 pg_notify('holdfast_lanes', id::text)
          from changed
        )
        select ${columns('$11::text[]')} from changed as endpoint, noted`,
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
      ...columnsOf(patterns),
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

/** Ends what is owed to lanes whose endpoint is gone. Indexes: endpoints_pkey, deliveries_ready. */
export async function cancelOrphans(database: Database, laneIds: readonly number[]): Promise<void> {
  await database.query(
    {
      name: 'cancel_orphans',
      text: `
        select holdfast.cancel_deliveries(orphan.lane, null, 'Its endpoint was deleted.')
        from unnest($1::int[]) as orphan (lane)
        where not exists (select from holdfast.endpoints where id = orphan.lane)`,
    },
    [laneIds],
  )
}
