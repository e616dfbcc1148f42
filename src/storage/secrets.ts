import type { ClientBase } from 'pg'
import type { NewSecret, StoredSecret } from '../secrets/endpoint-secrets.ts'
import type { Database } from './database.ts'

/** The columns of new secrets, as parameters of `holdfast_internal.store_secrets`: fields, key ids, encrypted bytes. */
export function secretColumns(
  secrets: readonly NewSecret[],
): readonly [readonly string[], readonly string[], readonly Buffer[]] {
  return [
    secrets.map(({ field }) => field),
    secrets.map(({ keyId }) => keyId),
    secrets.map(({ bytes }) => bytes),
  ]
}

/** A column with all secrets of `endpoint`, for select lists. Index: endpoint_secrets_pkey. */
export const storedSecretsColumn = `(
  select coalesce(jsonb_agg(jsonb_build_object(
    'field', secret.field, 'version', secret.version, 'keyId', secret.key_id, 'sealed', encode(secret.sealed, 'base64'),
    'setAtMs', floor(extract(epoch from secret.set_at) * 1000), 'expiresAtMs', floor(extract(epoch from secret.expires_at) * 1000)
  ) order by secret.field, secret.version), '[]')
  from holdfast_internal.endpoint_secrets as secret where secret.lane_id = endpoint.id
)`

/** Assigns the id of an endpoint before it exists, because its secrets are bound to the id. */
export async function drawLaneId(database: Database): Promise<number> {
  const rows = await database.query<{ id: number }>(
    { name: 'draw_lane_id', text: `select nextval('holdfast_internal.lanes')::int as id` },
    [],
  )
  const [row] = rows
  if (row === undefined) throw new Error('the sequence of lanes gave no id')
  return row.id
}

/** Returns when the replaced secret stops being used; null: at once. Index: endpoint_secrets_pkey. */
export async function rotateSecret(
  database: Database,
  laneId: number,
  secret: NewSecret,
  overlapMs: number,
  actor: string,
): Promise<Date | null> {
  const rows = await database.query<{ endsAt: Date | null }>(
    {
      name: 'rotate_secret',
      text: 'select holdfast_internal.rotate_secret($1, $2, $3, $4, $5, $6) as "endsAt"',
    },
    [laneId, secret.field, secret.keyId, secret.bytes, overlapMs, actor],
  )
  return rows[0]?.endsAt ?? null
}

/** Returns how many were deleted. Index: endpoint_secrets_expiry. */
export async function deleteExpiredSecrets(client: ClientBase): Promise<number> {
  const { rows } = await client.query<{ deleted: number }>(
    'select holdfast_internal.delete_expired_secrets() as deleted',
  )
  return rows[0]?.deleted ?? 0
}

export interface KeyUse {
  readonly keyId: string
  readonly secrets: number
}

/**
 * The keys that encrypt stored secrets of endpoints, of routes' transforms and of sources. Index:
 * endpoint_secrets_key; routes and sources are read completely.
 */
export async function readKeyUse(database: Database): Promise<KeyUse[]> {
  return database.query<KeyUse>(
    {
      name: 'read_key_use',
      text: `
        select key_id as "keyId", sum(secrets)::int as secrets from (
          select key_id, count(*) as secrets from holdfast_internal.endpoint_secrets group by key_id
          union all
          select transform #>> '{actor,key,keyId}', count(*) from holdfast_internal.routes
          where transform #>> '{actor,key,keyId}' is not null group by 1
          union all
          select used #>> '{}', count(*) from holdfast_internal.event_sources,
            jsonb_path_query(config - 'payload', '$.**{1 to 2} ? (@.isSet == true).keyId') as used group by 1
        ) as used
        group by key_id order by key_id limit 1000`,
    },
    [],
  )
}

/**
 * The number of http endpoints with values that count as secrets but were stored in plain text before they did; a thousand
 * at most. Reads all endpoints: for occasional use by operators.
 */
export async function countPlainSecrets(database: Database): Promise<number> {
  const [row] = await database.query<{ endpoints: number }>(
    {
      name: 'count_plain_secrets',
      text: `
        select count(*)::int as endpoints from (
          select from holdfast_internal.endpoints
          where transport = 'http' and (
            (jsonb_typeof(config -> 'url') = 'string' and (config ->> 'url' like '%?%' or config -> 'secretPath' = 'true'))
            or exists (
              select from jsonb_each(case jsonb_typeof(config -> 'headers') when 'object' then config -> 'headers' else '{}' end) as header
              where jsonb_typeof(header.value) = 'string' and lower(header.key) not in (
                select lower(name) from jsonb_array_elements_text(
                  case jsonb_typeof(config -> 'plainHeaders') when 'array' then config -> 'plainHeaders' else '[]' end) as name)
            )
          ) limit 1000
        ) as found`,
    },
    [],
  )
  return row?.endpoints ?? 0
}

/** The position of a secret in the order of re-encryption. */
export interface SecretPlace {
  readonly laneId: number
  readonly field: string
  readonly version: number
}

export type ListedSecret = StoredSecret & SecretPlace & { readonly endpoint: string }

/** Secrets encrypted with another key than `keyId`, in order, after `after`. Index: endpoint_secrets_pkey. */
export async function readSecretsUnderOtherKeys(
  database: Database,
  keyId: string,
  after: SecretPlace,
  limit: number,
): Promise<ListedSecret[]> {
  return database.query<ListedSecret>(
    {
      name: 'read_secrets_under_other_keys',
      text: `
        select lane_id as "laneId", endpoint.name as endpoint, field, version, key_id as "keyId", encode(sealed, 'base64') as sealed,
          floor(extract(epoch from set_at) * 1000) as "setAtMs", floor(extract(epoch from expires_at) * 1000) as "expiresAtMs"
        from holdfast_internal.endpoint_secrets join holdfast_internal.endpoints as endpoint on endpoint.id = lane_id
        where key_id <> $1 and (lane_id, field, version) > ($2, $3, $4)
        order by lane_id, field, version limit $5`,
    },
    [keyId, after.laneId, after.field, after.version, limit],
  )
}

/** Returns how many were replaced: a secret that changed since it was read is skipped. Index: endpoint_secrets_pkey. */
export async function replaceSealed(
  database: Database,
  replacements: readonly {
    readonly place: SecretPlace
    readonly before: Buffer
    readonly after: NewSecret
  }[],
): Promise<number> {
  const rows = await database.query<{ replaced: number }>(
    {
      name: 'replace_sealed',
      text: `
        with replaced as (
          update holdfast_internal.endpoint_secrets as secret set key_id = given.key_id, sealed = given.after
          from unnest($1::int[], $2::text[], $3::int[], $4::bytea[], $5::text[], $6::bytea[])
            as given (lane_id, field, version, before, key_id, after)
          where secret.lane_id = given.lane_id and secret.field = given.field and secret.version = given.version
            and secret.sealed = given.before
          returning 1
        )
        select count(*)::int as replaced from replaced`,
    },
    [
      replacements.map(({ place }) => place.laneId),
      replacements.map(({ place }) => place.field),
      replacements.map(({ place }) => place.version),
      replacements.map(({ before }) => before),
      replacements.map(({ after }) => after.keyId),
      replacements.map(({ after }) => after.bytes),
    ],
  )
  return rows[0]?.replaced ?? 0
}

/** A secret of a route's transform that is encrypted with another key. */
export interface RouteSecret {
  readonly id: number
  readonly route: string
  readonly endpoint: string
  readonly keyId: string
  readonly sealed: string
}

/** In order of the routes' ids, after `afterId`. Index: routes_pkey. */
export async function readRouteSecretsUnderOtherKeys(
  database: Database,
  keyId: string,
  afterId: number,
  limit: number,
): Promise<RouteSecret[]> {
  return database.query<RouteSecret>(
    {
      name: 'read_route_secrets_under_other_keys',
      text: `
        select route.id, route.name as route, endpoint.name as endpoint, transform #>> '{actor,key,keyId}' as "keyId",
          transform #>> '{actor,key,sealed}' as sealed
        from holdfast_internal.routes as route join holdfast_internal.endpoints as endpoint on endpoint.id = route.lane_id
        where route.id > $2 and transform #>> '{actor,key,keyId}' <> $1
        order by route.id limit $3`,
    },
    [keyId, afterId, limit],
  )
}

/**
 * Returns whether the secret was replaced: one that changed since it was read is skipped. Its value is
 * the same, so nodes aren't notified. Index: routes_pkey.
 */
export async function replaceRouteSecret(
  database: Database,
  { id, sealed }: RouteSecret,
  next: { readonly keyId: string; readonly bytes: Buffer },
): Promise<boolean> {
  const rows = await database.query<{ id: number }>(
    {
      name: 'replace_route_secret',
      text: `
        update holdfast_internal.routes
        set transform = jsonb_set(transform, '{actor,key}', jsonb_build_object('isSet', true, 'keyId', $3::text, 'sealed', $4::text))
        where id = $1 and transform #>> '{actor,key,sealed}' = $2 returning id`,
    },
    [id, sealed, next.keyId, next.bytes.toString('base64')],
  )
  return rows.length > 0
}

/** Records in the audit log that secrets were re-encrypted. */
export async function noteReencryption(database: Database, actor: string, detail: object): Promise<void> {
  await database.query(
    {
      name: 'note_reencryption',
      text: `select holdfast_internal.audit($1, 'secrets.reencrypted', 'secrets', $2)`,
    },
    [actor, JSON.stringify(detail)],
  )
}
