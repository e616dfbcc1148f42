import type { ClientBase } from 'pg'
import type { EndpointSettings } from '../core/endpoints/endpoint-config.ts'
import { settingNames } from '../core/endpoints/setting-fields.ts'
import type { NewSecret } from '../secrets/endpoint-secrets.ts'
import type { Database } from './database.ts'
import type { ShorthandPattern } from './routes.ts'
import { secretColumns } from './secrets.ts'

/** An endpoint in a list: its settings and state, without secrets. */
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
  readonly secrets: readonly SecretRecord[]
  /** The patterns of its shorthand routes. */
  readonly eventTypes: readonly string[]
  readonly state: 'active' | 'paused' | 'rejecting' | 'disabled'
  readonly stateReason: string | null
  readonly createdAt: Date
  readonly updatedAt: Date
}

/** The public part of a secret: that it is set, never its value. */
export interface SecretRecord {
  /** The secret's path in the config: `signing.secret`. */
  readonly field: string
  /** The id of the key that encrypts the secret. */
  readonly keyId: string
  readonly setAt: string
  /** Set for a replaced secret that is still accepted beside its successor. */
  readonly expiresAt: string | null
}

/** The secret changes of an updated endpoint: secrets that are not listed are deleted. */
export interface SecretChanges {
  readonly kept: readonly string[]
  readonly set: readonly NewSecret[]
}

const storedEventTypes = `array(
  select event_type from holdfast_internal.routes where lane_id = endpoint.id and is_shorthand and enabled order by routes.id
)`

/** One statement makes a change and returns its result. It doesn't see the rows that it writes, so they are taken from its parameters. */
function listedSecrets(kept: string | null, fields: string, keyIds: string): string {
  return `(
    select coalesce(jsonb_agg(to_jsonb(listed) order by listed.field, listed."expiresAt" desc nulls first), '[]') from (
      select field, key_id as "keyId", set_at as "setAt", expires_at as "expiresAt" from holdfast_internal.endpoint_secrets
      where lane_id = endpoint.id and (expires_at is null or expires_at > clock_timestamp())
        ${kept === null ? '' : `and field = any (${kept}::text[])`}
      union all
      select field, key_id, clock_timestamp(), null from unnest(${fields}::text[], ${keyIds}::text[]) as given (field, key_id)
    ) as listed
  )`
}

const storedSecrets = listedSecrets(null, `'{}'`, `'{}'`)

function columns(eventTypes: string = storedEventTypes, secrets: string = storedSecrets): string {
  return `endpoint.id, endpoint.name, transport, tenant, tags, contact, preset, config, settings, ${eventTypes} as "eventTypes",
    ${secrets} as secrets, state, state_reason as "stateReason", created_at as "createdAt", updated_at as "updatedAt"`
}

/** The settings that are stored as one document; the other settings have their own columns. */
function policyOf(settings: EndpointSettings): object {
  return Object.fromEntries(settingNames.map((name) => [name, settings[name]]))
}

function settingColumns(settings: EndpointSettings): unknown[] {
  const { name, transport, tenant, tags, contact, preset, config } = settings
  return [
    name,
    transport,
    tenant,
    tags,
    contact,
    preset,
    JSON.stringify(config),
    JSON.stringify(policyOf(settings)),
  ]
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

/** Another route, not this endpoint's shorthand, has the name that the shorthand needs. */
export function isRouteNameTaken(error: unknown): boolean {
  const { code, constraint, column } = error as { code?: string; constraint?: string; column?: string }
  return (code === '23505' && constraint === 'routes_name_key') || (code === '23502' && column === 'lane_id')
}

/** Returns undefined if the name is taken. `id` is assigned before, because secrets are bound to it. Index: endpoints_name_key. */
export async function insertEndpoint(
  database: Database,
  id: number | null,
  settings: EndpointSettings,
  patterns: readonly ShorthandPattern[],
  secrets: readonly NewSecret[],
  actor: string,
): Promise<EndpointRecord | undefined> {
  const rows = await database.query<EndpointRecord>(
    {
      name: 'insert_endpoint',
      text: `
        with created as (
          insert into holdfast_internal.endpoints (id, name, transport, tenant, tags, contact, preset, config, settings)
          values (coalesce($16, nextval('holdfast_internal.lanes')), $1, $2, $3, $4, $5, $6, $7, $8) on conflict (name) do nothing returning *
        ), routed as (
          insert into holdfast_internal.routes (name, tenant, event_type, exact_type, like_pattern, segments, regex, criticality, lane_id, is_shorthand)
          select given.name, created.tenant, event_type, exact_type, like_pattern, segments, regex, criticality, created.id, true
          from created, unnest($10::text[], $11::text[], $12::text[], $13::text[], $14::int[], $15::text[], $20::smallint[])
            as given (name, event_type, exact_type, like_pattern, segments, regex, criticality)
        ), noted as (
          select holdfast_internal.audit($9, 'endpoint.created', 'endpoint:' || name, holdfast_internal.changes('{}', holdfast_internal.endpoint_view(created))),
                 holdfast_internal.store_secrets(id, '{}', $17, $18, $19),
                 holdfast_internal.notify('holdfast_lanes', id::text)
          from created
        )
        select ${columns('$11::text[]', listedSecrets(`'{}'`, '$17', '$18'))} from created as endpoint, noted`,
    },
    [
      ...settingColumns(settings),
      actor,
      ...columnsOf(patterns),
      id,
      ...secretColumns(secrets),
      patterns.map((pattern) => pattern.criticality),
    ],
  )
  return rows[0]
}

/**
 * Returns undefined if there is no endpoint of this name. Its shorthand routes are replaced by those of `patterns`: a dropped one is disabled and
 * kept, because it may have pending deliveries, and is deleted by a later change when it has none. Indexes: endpoints_name_key, routes_lane.
 */
export async function updateEndpoint(
  database: Database,
  settings: EndpointSettings,
  patterns: readonly ShorthandPattern[],
  secrets: SecretChanges,
  actor: string,
): Promise<EndpointRecord | undefined> {
  const rows = await database.query<EndpointRecord>(
    {
      name: 'update_endpoint',
      text: `
        with previous as (
          select * from holdfast_internal.endpoints where name = $1 for update
        ), changed as (
          update holdfast_internal.endpoints set transport = $2, tenant = $3, tags = $4, contact = $5, preset = $6, config = $7, settings = $8,
            updated_at = clock_timestamp(), changed_xid = pg_current_xact_id()
          where id = (select id from previous) returning *
        ), wanted as (
          select * from unnest($10::text[], $11::text[], $12::text[], $13::text[], $14::int[], $15::text[], $20::smallint[])
            as given (name, event_type, exact_type, like_pattern, segments, regex, criticality)
        ), dropped as (
          update holdfast_internal.routes as route set enabled = false, updated_at = clock_timestamp(), changed_xid = pg_current_xact_id()
          from changed
          where route.lane_id = changed.id and is_shorthand and enabled and not exists (select from wanted where wanted.name = route.name)
        ), deleted as (
          delete from holdfast_internal.routes as route using changed
          where route.lane_id = changed.id and is_shorthand and not enabled
            and not exists (select from wanted where wanted.name = route.name)
            and not exists (select from holdfast_internal.deliveries as owed where owed.lane_id = changed.id and owed.route_id = route.id)
        ), routed as (
          insert into holdfast_internal.routes as route (name, tenant, event_type, exact_type, like_pattern, segments, regex, criticality, lane_id, is_shorthand)
          select wanted.name, changed.tenant, event_type, exact_type, like_pattern, segments, regex, criticality, changed.id, true
          from wanted, changed
          -- A route of this name that isn't this endpoint's shorthand must not change: a null lane is refused by the table.
          on conflict (name) do update set tenant = excluded.tenant, enabled = true,
            lane_id = case when route.is_shorthand and route.lane_id = excluded.lane_id then route.lane_id end
        ), noted as (
          select holdfast_internal.audit($9, 'endpoint.updated', 'endpoint:' || changed.name, holdfast_internal.endpoint_changes(previous, changed)),
                 holdfast_internal.store_secrets(changed.id, $16, $17, $18, $19),
                 holdfast_internal.notify('holdfast_lanes', changed.id::text)
          from changed join previous using (id)
        )
        select ${columns('$11::text[]', listedSecrets('$16', '$17', '$18'))} from changed as endpoint, noted`,
    },
    [
      ...settingColumns(settings),
      actor,
      ...columnsOf(patterns),
      secrets.kept,
      ...secretColumns(secrets.set),
      patterns.map((pattern) => pattern.criticality),
    ],
  )
  return rows[0]
}

/** Index: endpoints_name_key. */
export async function readEndpoint(database: Database, name: string): Promise<EndpointRecord | undefined> {
  const rows = await database.query<EndpointRecord>(
    {
      name: 'read_endpoint',
      text: `select ${columns()} from holdfast_internal.endpoints as endpoint where name = $1`,
    },
    [name],
  )
  return rows[0]
}

export interface EndpointFilter {
  readonly afterName: string
  readonly tag: string | null
  readonly tenant: string | null
  readonly state: string | null
}

/** By name, after `afterName`. Index: endpoints_name_key; rows that don't match the filter are read and skipped. */
export async function listEndpoints(
  database: Database,
  { afterName, tag, tenant, state }: EndpointFilter,
  limit: number,
): Promise<EndpointRecord[]> {
  return database.query<EndpointRecord>(
    {
      name: 'list_endpoints',
      text: `
        select ${columns()} from holdfast_internal.endpoint_page($1, $2, $3, $4, $5) as endpoint order by name`,
    },
    [afterName, limit, tag, tenant, state],
  )
}

/** Enables endpoints whose cooldown after an automatic disabling is over. Index: endpoints_reenable. */
export async function reenableEndpoints(client: ClientBase): Promise<number> {
  const { rowCount } = await client.query(`select holdfast_internal.reenable_endpoints('holdfast')`)
  return rowCount ?? 0
}

/** What a deletion did to pending deliveries: cancelled them at once, or started an operation. */
export interface Deletion {
  readonly cancelled: number
  readonly operation: number | null
}

/** Indexes: endpoints_name_key, deliveries_ready. */
export async function deleteEndpoint(
  database: Database,
  name: string,
  isForced: boolean,
  actor: string,
): Promise<Deletion> {
  const rows = await database.query<Deletion>(
    {
      name: 'delete_endpoint_v2',
      text: 'select cancelled, operation_id as operation from holdfast_internal.delete_endpoint_v2($1, $2, $3)',
    },
    [name, isForced, actor],
  )
  return rows[0] ?? { cancelled: 0, operation: null }
}

/** Cancels deliveries of lanes whose endpoint was deleted; many deliveries by an operation. Indexes: endpoints_pkey, deliveries_ready. */
export async function cancelOrphans(database: Database, laneIds: readonly number[]): Promise<void> {
  await database.query(
    {
      name: 'cancel_orphans',
      text: `
        select ended.cancelled from unnest($1::int[]) as orphan (lane)
        cross join lateral holdfast_internal.cancel_lane(orphan.lane, null, 'Its endpoint was deleted.', 'holdfast') as ended
        where not exists (select from holdfast_internal.endpoints where id = orphan.lane)`,
    },
    [laneIds],
  )
}

/** Records in the audit log who tested an endpoint, and the result. No index: one insert. */
export async function recordEndpointTest(
  database: Database,
  test: { readonly endpoint: string; readonly status: number | null; readonly finding: string },
  actor: string,
): Promise<void> {
  const { endpoint, status, finding } = test
  await database.query(
    {
      name: 'record_endpoint_test',
      text: "select holdfast_internal.audit($1, 'endpoint.tested', 'endpoint:' || $2::text, $3)",
    },
    [actor, endpoint, JSON.stringify({ name: endpoint, status, finding })],
  )
}
