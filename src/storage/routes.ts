import { HoldfastError } from '../core/errors.ts'
import type { RouteSettings } from '../core/routes/route-input.ts'
import type { Database } from './database.ts'
import type { Deletion } from './endpoints.ts'
import { firstUnseen, watermarkNow } from './watermark.ts'

/** A stored pattern: exactly one of `exact`, `like` and `regex` is set. */
export interface StoredPattern {
  readonly exact: string | null
  readonly like: string | null
  readonly segments: number | null
  readonly regex: string | null
}

/** A pattern of an endpoint's `eventTypes`, with the name of its route. */
export type ShorthandPattern = StoredPattern & {
  readonly text: string
  readonly name: string
  /** As a code; null: the criticality of the event type. */
  readonly criticality: number | null
}

export interface RouteRecord {
  readonly id: number
  readonly name: string
  readonly tenant: string | null
  readonly eventType: string
  readonly filter: string | null
  readonly transform: (Record<string, unknown> & { type: string }) | null
  readonly endpoint: string
  readonly criticality: 'best_effort' | 'standard' | 'critical' | null
  readonly enabled: boolean
  readonly isShorthand: boolean
  readonly createdAt: Date
  readonly updatedAt: Date
}

const columns = `
  route.id, route.name, route.tenant, route.event_type as "eventType", route.filter_text as filter, route.transform,
  endpoint.name as endpoint, (array['best_effort', 'standard', 'critical'])[route.criticality + 1] as criticality,
  route.enabled, route.is_shorthand as "isShorthand", route.created_at as "createdAt", route.updated_at as "updatedAt"`

/**
 * Creates or changes a route, by name, as `mode` says. Returns undefined if a route to create exists, or one to change doesn't.
 * Index: routes_name_key.
 */
export async function writeRoute(
  database: Database,
  mode: 'insert' | 'update',
  route: RouteSettings,
  pattern: StoredPattern,
  actor: string,
): Promise<RouteRecord | undefined> {
  const write =
    mode === 'insert'
      ? `insert into holdfast_internal.routes as route
           (name, tenant, event_type, exact_type, like_pattern, segments, regex, filter, filter_text, transform, criticality, enabled, lane_id)
         select $1, $2, $3, $4, $5, $6, $7, $8::text::jsonpath, $8, $9, holdfast_internal.criticality_code($10), $11, endpoint.id
         from holdfast_internal.endpoints as endpoint where endpoint.name = $12
         on conflict (name) do nothing returning route.*`
      : `update holdfast_internal.routes as route set tenant = $2, event_type = $3, exact_type = $4, like_pattern = $5, segments = $6,
           regex = $7, filter = $8::text::jsonpath, filter_text = $8, transform = $9, criticality = holdfast_internal.criticality_code($10),
           enabled = $11, lane_id = endpoint.id, updated_at = clock_timestamp(), changed_xid = pg_current_xact_id()
         from holdfast_internal.endpoints as endpoint where endpoint.name = $12 and route.name = $1 returning route.*`
  const rows = await database.query<RouteRecord>(
    {
      name: `route_${mode}`,
      text: `
        with previous as (
          select * from holdfast_internal.routes where name = $1
        ), route as (${write}), noted as (
          select holdfast_internal.audit($13, 'route.' || $14, 'route:' || route.name,
                                holdfast_internal.changes(coalesce(holdfast_internal.route_view(previous), '{}'), holdfast_internal.route_view(route))),
                 holdfast_internal.notify('holdfast_routes', route.id::text)
          from route left join previous on true
        )
        select ${columns} from noted, route join holdfast_internal.endpoints as endpoint on endpoint.id = route.lane_id`,
    },
    [
      route.name,
      route.tenant,
      route.eventType,
      pattern.exact,
      pattern.like,
      pattern.segments,
      pattern.regex,
      route.filter,
      route.transform === null ? null : JSON.stringify(route.transform),
      route.criticality,
      route.enabled,
      route.endpoint,
      actor,
      mode === 'insert' ? 'created' : 'updated',
    ],
  )
  return rows[0]
}

/** Index: routes_name_key. */
export async function readRoute(database: Database, name: string): Promise<RouteRecord | undefined> {
  const rows = await database.query<RouteRecord>(
    {
      name: 'read_route',
      text: `select ${columns} from holdfast_internal.routes as route join holdfast_internal.endpoints as endpoint on endpoint.id = route.lane_id where route.name = $1`,
    },
    [name],
  )
  return rows[0]
}

/** By name, after `afterName`. Index: routes_name_key. */
export async function listRoutes(
  database: Database,
  afterName: string,
  limit: number,
  endpoint: string | null,
): Promise<RouteRecord[]> {
  return database.query<RouteRecord>(
    {
      name: 'list_routes',
      text: `
        select ${columns} from holdfast_internal.route_page($1, $2, $3) as route
        cross join lateral (select name from holdfast_internal.endpoints where id = route.lane_id limit 1) as endpoint
        order by route.name`,
    },
    [afterName, limit, endpoint],
  )
}

/** Index: routes_name_key; searches all pending deliveries for those of the route. */
export async function deleteRoute(
  database: Database,
  name: string,
  isForced: boolean,
  actor: string,
): Promise<Deletion> {
  const rows = await database.query<Deletion>(
    {
      name: 'delete_route_v2',
      text: 'select cancelled, operation_id as operation from holdfast_internal.delete_route_v2($1, $2, $3)',
    },
    [name, isForced, actor],
  )
  return rows[0] ?? { cancelled: 0, operation: null }
}

/** What is wrong with a filter, and its position (null if PostgreSQL doesn't report one). */
export interface FilterComplaint {
  readonly message: string
  readonly position: number | null
}

/** Lets PostgreSQL check a filter: null if it is a predicate, otherwise the problem. Reads no table. */
export async function checkFilter(database: Database, filter: string): Promise<FilterComplaint | null> {
  if (filter.trim() === '') {
    return {
      message: 'is blank: write a condition like $.amount > 100, or leave the filter out',
      position: 0,
    }
  }
  try {
    const rows = await database.attempt(() =>
      database.query<{ canonical: string }>(
        {
          name: 'check_filter',
          text: `select $1::text::jsonpath::text as canonical, jsonb_path_match_tz('{}', $1::text::jsonpath, '{}', false)`,
        },
        [filter],
      ),
    )
    // If short-circuit evaluation skips a variable in the test, each publish that evaluates it would fail.
    return hasVariable(rows[0]?.canonical ?? '') ? variableComplaint(filter) : null
  } catch (error) {
    const { code = '', message = '' } = error as { code?: string; message?: string }
    if (code === '22038') {
      return { message: 'is a path, not a condition: write a comparison like $.amount > 100', position: null }
    }
    if (code === '42704') return variableComplaint(filter)
    // A condition may fail on an empty document (a missing field in strict mode), and still be valid.
    if (code.startsWith('2203')) return null
    // Bad syntax, a bad regular expression, an unsupported flag, a number out of range, nested too deeply.
    if (!/^(42|22|0A|54)/.test(code)) throw error
    return {
      message: `is not a valid SQL/JSON path: ${message}`,
      position: await positionOf(database, filter, message),
    }
  }
}

/** PostgreSQL's canonical text of a variable is a `$` before a quoted name. */
function hasVariable(canonical: string): boolean {
  return canonical
    .replaceAll(/(\$?)"(?:[^"\\]|\\.)*"/g, (_, sign: string) => (sign === '' ? '' : '\0'))
    .includes('\0')
}

function variableComplaint(filter: string): FilterComplaint {
  const position = filter.search(/\$["\p{L}_]/u)
  return {
    message: 'has a variable, which filters do not support: write its value instead',
    position: position === -1 ? null : position,
  }
}

const filterTimeoutMs = 2000
const queryCanceled = '57014'
const maxPositionTries = 20

/**
 * PostgreSQL reports the token at which parsing failed, not its position. Parsing fails at the same token when the filter ends there, so the first
 * such prefix of the filter gives the position.
 */
async function positionOf(database: Database, filter: string, message: string): Promise<number | null> {
  if (message.includes('at end of jsonpath')) return filter.length
  const token = /at or near "(.*)" of jsonpath/s.exec(message)?.[1]
  if (token === undefined || token === '') return null
  let position = filter.indexOf(token)
  for (let tries = 0; position !== -1 && tries < maxPositionTries; tries += 1) {
    const beginning = filter.slice(0, position + token.length)
    const complaint = await database
      .attempt(() => database.query({ name: 'parse_filter', text: 'select $1::text::jsonpath' }, [beginning]))
      .then(
        () => '',
        (error: Error) => error.message,
      )
    if (complaint === message) return position
    position = filter.indexOf(token, position + 1)
  }
  return null
}

/** Whether this payload matches the filter, as evaluated by PostgreSQL when publishing. */
export async function matchFilter(database: Database, filter: string, body: string): Promise<boolean> {
  return database.inTransaction(async (client) => {
    // Comparing two large lists can take hours; the server aborts it, so that a caller can't occupy a connection and a core.
    await client.query(`set local statement_timeout = ${filterTimeoutMs}`)
    const { rows } = await client
      .query<{ matches: boolean }>(
        `select coalesce(jsonb_path_match_tz($1::text::jsonb, $2::text::jsonpath, '{}', true), false) as matches`,
        [body, filter],
      )
      .catch((error: unknown) => {
        throw (error as { code?: unknown }).code === queryCanceled ? filterTooCostly(error) : error
      })
    return rows[0]?.matches ?? false
  })
}

function filterTooCostly(cause: unknown): HoldfastError {
  return new HoldfastError(
    'invalid_filter',
    `The filter takes longer than ${filterTimeoutMs} ms with this payload. Compare single values instead of lists.`,
    {},
    cause,
  )
}

/** The fields of a route that the engine needs. */
export interface RouteShape {
  readonly id: number
  readonly name: string
  readonly transform: (Record<string, unknown> & { type: string }) | null
}

/** Index: routes_pkey. */
export async function readRouteShapes(
  database: Database,
  routeIds: readonly number[],
): Promise<RouteShape[]> {
  return database.query<RouteShape>(
    {
      name: 'read_route_shapes',
      text: 'select id, name, transform from holdfast_internal.routes where id = any ($1::int[])',
    },
    [routeIds],
  )
}

/**
 * Routes and event types that changed since the watermark, or were deleted (of the types that are in use), and the next watermark.
 * Indexes: routes_changed, event_types_changed, event_types_pkey.
 */
export async function readChangedShapes(
  database: Database,
  watermark: string,
  typesInUse: readonly string[],
): Promise<{ routeIds: number[]; eventTypes: string[]; watermark: string }> {
  const rows = await database.query<{
    route_ids: number[] | null
    types: string[] | null
    watermark: string
  }>(
    {
      name: 'read_changed_shapes',
      text: `
        select (select array_agg(id) from holdfast_internal.routes where changed_xid >= ${firstUnseen('$1')}) as route_ids,
               array(
                 select name from holdfast_internal.event_types where changed_xid >= ${firstUnseen('$1')}
                 union all
                 select used.name from unnest($2::text[]) as used (name)
                 where not exists (select from holdfast_internal.event_types as known where known.name = used.name)
               ) as types,
               ${watermarkNow} as watermark`,
    },
    [watermark, typesInUse],
  )
  return {
    routeIds: rows[0]?.route_ids ?? [],
    eventTypes: rows[0]?.types ?? [],
    watermark: rows[0]?.watermark ?? watermark,
  }
}
