import type { Role } from '../core/roles.ts'
import type { Database } from './database.ts'

export interface SessionRecord {
  readonly keyId: string | null
  readonly name: string
  readonly role: Role
}

/** Also forgets what has expired. Indexes: api_sessions_pkey, api_sessions_expiry. */
export async function insertSession(
  database: Database,
  tokenHash: Buffer,
  session: SessionRecord,
  lifetimeMs: number,
): Promise<void> {
  await database.query(
    {
      name: 'insert_session',
      text: `
        with expired as (delete from holdfast_internal.api_sessions where expires_at < now())
        insert into holdfast_internal.api_sessions (token_hash, key_id, name, role, expires_at)
        values ($1, $2, $3, $4, now() + $5::float8 * interval '1 ms')`,
    },
    [tokenHash, session.keyId, session.name, session.role, lifetimeMs],
  )
}

/** A session that goes on; one of a key ends with the key. Index: api_sessions_pkey. */
export async function readSession(database: Database, tokenHash: Buffer): Promise<SessionRecord | undefined> {
  const rows = await database.query<SessionRecord>(
    {
      name: 'read_session',
      text: `
        select session.key_id as "keyId", session.name, session.role
        from holdfast_internal.api_sessions as session left join holdfast_internal.api_keys as key on key.id = session.key_id
        where session.token_hash = $1 and session.expires_at > now()
          and (session.key_id is null or key.revoked_at is null and (key.expires_at is null or key.expires_at > now()))`,
    },
    [tokenHash],
  )
  return rows[0]
}

/** Index: api_sessions_pkey. */
export async function deleteSession(database: Database, tokenHash: Buffer): Promise<void> {
  await database.query(
    { name: 'delete_session', text: 'delete from holdfast_internal.api_sessions where token_hash = $1' },
    [tokenHash],
  )
}

/** Index: sign_in_links_pkey. */
export async function insertSignInLink(
  database: Database,
  tokenHash: Buffer,
  lifetimeMs: number,
): Promise<void> {
  await database.query(
    {
      name: 'insert_sign_in_link',
      text: `
        with expired as (delete from holdfast_internal.sign_in_links where expires_at < now())
        insert into holdfast_internal.sign_in_links (token_hash, expires_at) values ($1, now() + $2::float8 * interval '1 ms')`,
    },
    [tokenHash, lifetimeMs],
  )
}

/** Whether the link was still good; it isn't any more. Index: sign_in_links_pkey. */
export async function useSignInLink(database: Database, tokenHash: Buffer): Promise<boolean> {
  const rows = await database.query(
    {
      name: 'use_sign_in_link',
      text: 'delete from holdfast_internal.sign_in_links where token_hash = $1 and expires_at > now() returning 1 as used',
    },
    [tokenHash],
  )
  return rows.length > 0
}
