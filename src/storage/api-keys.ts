import type { Role } from '../core/access/roles.ts'
import type { Database } from './database.ts'

export interface ApiKeyRecord {
  readonly id: string
  readonly name: string
  readonly role: Role
  readonly createdAt: Date
  readonly createdBy: string
  readonly expiresAt: Date | null
  readonly lastUsedAt: Date | null
  readonly revokedAt: Date | null
}

const columns = `id, name, role, created_at as "createdAt", created_by as "createdBy", expires_at as "expiresAt",
  last_used_at as "lastUsedAt", revoked_at as "revokedAt"`

export interface NewApiKey {
  readonly id: string
  readonly name: string
  readonly role: Role
  readonly secretHash: Buffer
  readonly expiresInMs: number | null
}

/** Returns undefined if another key that isn't revoked has the name. Index: api_keys_name. */
export async function insertApiKey(
  database: Database,
  key: NewApiKey,
  actor: string,
): Promise<ApiKeyRecord | undefined> {
  const rows = await database.query<ApiKeyRecord>(
    {
      name: 'insert_api_key',
      text: `
        with created as (
          insert into holdfast_internal.api_keys (id, name, role, secret_hash, created_by, expires_at)
          values ($1, $2, $3, $4, $6, now() + $5::float8 * interval '1 ms')
          on conflict do nothing returning *
        ), noted as (
          select holdfast_internal.audit($6, 'api_key.created', 'api-key:' || id,
                                jsonb_build_object('name', name, 'after', jsonb_build_object('role', role, 'expiresAt', expires_at)))
          from created
        )
        select ${columns} from created, noted`,
    },
    [key.id, key.name, key.role, key.secretHash, key.expiresInMs, actor],
  )
  return rows[0]
}

/** Ids of keys that aren't revoked, the newest first. Index: none is needed, keys are few. */
export async function readKeyIds(database: Database, limit: number): Promise<string[]> {
  const rows = await database.query<{ id: string }>(
    {
      name: 'read_key_ids',
      text: `select id from holdfast_internal.api_keys where revoked_at is null order by created_at desc limit $1`,
    },
    [limit],
  )
  return rows.map(({ id }) => id)
}

/** A key that is neither revoked nor expired, by its id. Index: api_keys_pkey. */
export async function readLiveKey(
  database: Database,
  id: string,
): Promise<{ name: string; role: Role; secretHash: Buffer } | undefined> {
  const rows = await database.query<{ name: string; role: Role; secretHash: Buffer }>(
    {
      name: 'read_live_key',
      text: `select name, role, secret_hash as "secretHash" from holdfast_internal.api_keys
             where id = $1 and revoked_at is null and (expires_at is null or expires_at > now())`,
    },
    [id],
  )
  return rows[0]
}

/** Writes at most once a minute per key, so that not every use of a key costs a write. Index: api_keys_pkey. */
export async function noteKeyUse(database: Database, id: string): Promise<void> {
  await database.query(
    {
      name: 'note_key_use',
      text: `update holdfast_internal.api_keys set last_used_at = now()
             where id = $1 and (last_used_at is null or last_used_at < now() - interval '1 minute')`,
    },
    [id],
  )
}

/** Keys with ids after `afterId`, by id. Index: api_keys_pkey. */
export async function listApiKeys(
  database: Database,
  afterId: string,
  limit: number,
): Promise<ApiKeyRecord[]> {
  return database.query<ApiKeyRecord>(
    {
      name: 'list_api_keys',
      text: `select ${columns} from holdfast_internal.api_keys where id > $1 order by id limit $2`,
    },
    [afterId, limit],
  )
}

/** Also ends the sessions started with the key. Returns undefined if there is no such key, or it was revoked before. Index: api_keys_pkey. */
export async function revokeApiKey(
  database: Database,
  id: string,
  actor: string,
): Promise<ApiKeyRecord | undefined> {
  const rows = await database.query<ApiKeyRecord>(
    {
      name: 'revoke_api_key',
      text: `
        with revoked as (
          update holdfast_internal.api_keys set revoked_at = now() where id = $1 and revoked_at is null returning *
        ), ended as (
          delete from holdfast_internal.api_sessions where key_id in (select id from revoked)
        ), noted as (
          select holdfast_internal.audit($2, 'api_key.revoked', 'api-key:' || id, jsonb_build_object('name', name)) from revoked
        )
        select ${columns} from revoked, noted`,
    },
    [id, actor],
  )
  return rows[0]
}

/** Whether any admin key is still valid. Index: api_keys_name. */
export async function hasAdminKey(database: Database): Promise<boolean> {
  const rows = await database.query<{ found: boolean }>(
    {
      name: 'has_admin_key',
      text: `select exists (select from holdfast_internal.api_keys where revoked_at is null and role = 'admin'
                            and (expires_at is null or expires_at > now())) as found`,
    },
    [],
  )
  return rows[0]?.found ?? false
}
