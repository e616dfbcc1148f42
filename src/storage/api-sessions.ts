import type { Role } from '../core/access/roles.ts'
import type { Database } from './database.ts'

export interface SessionRecord {
  readonly keyId: string | null
  readonly name: string
  readonly role: Role
  /** Set for a session that was started with the configured key. */
  readonly keyProof: Buffer | null
}

export interface NewSession extends SessionRecord {
  readonly tokenHash: Buffer
  readonly lifetimeMs: number
  /** For the audit log: the credential that started the session, and from where. */
  readonly by: string
  readonly address: string
}

/** Also deletes expired sessions. Indexes: api_sessions_pkey, api_sessions_expiry. */
export async function insertSession(database: Database, session: NewSession): Promise<void> {
  const { tokenHash, keyId, name, role, keyProof, lifetimeMs, by, address } = session
  await database.query(
    {
      name: 'insert_session',
      text: `
        with expired as (delete from holdfast_internal.api_sessions where expires_at < now()), begun as (
          insert into holdfast_internal.api_sessions (token_hash, key_id, name, role, key_proof, expires_at)
          values ($1, $2, $3, $4, $5, now() + $6::float8 * interval '1 ms') returning name
        )
        select holdfast_internal.audit('session:' || name, 'session.began', 'session:' || name,
          jsonb_strip_nulls(jsonb_build_object('by', $7::text, 'key', $2::text, 'role', $4::text, 'address', $8::text)))
        from begun`,
    },
    [tokenHash, keyId, name, role, keyProof, lifetimeMs, by, address],
  )
}

const isLive = `session.expires_at > now()
  and (session.key_id is null or key.revoked_at is null and (key.expires_at is null or key.expires_at > now()))`

/** Returns a session that hasn't expired; a session of a key ends with the key. Index: api_sessions_pkey. */
export async function readSession(database: Database, tokenHash: Buffer): Promise<SessionRecord | undefined> {
  const rows = await database.query<SessionRecord>(
    {
      name: 'read_session',
      text: `
        select session.key_id as "keyId", session.name, session.role, session.key_proof as "keyProof"
        from holdfast_internal.api_sessions as session left join holdfast_internal.api_keys as key on key.id = session.key_id
        where session.token_hash = $1 and ${isLive}`,
    },
    [tokenHash],
  )
  return rows[0]
}

export interface LiveCredentials {
  readonly keyIds: ReadonlySet<string>
  /** In base64. */
  readonly tokenHashes: ReadonlySet<string>
}

/** Which of these keys and sessions are valid now. Indexes: api_keys_pkey, api_sessions_pkey. */
export async function readLiveCredentials(
  database: Database,
  keyIds: readonly string[],
  tokenHashes: readonly string[],
): Promise<LiveCredentials> {
  const [row] = await database.query<{ keyIds: string[]; tokenHashes: string[] }>(
    {
      name: 'read_live_credentials',
      text: `
        select array(
            select key.id from holdfast_internal.api_keys as key
            where key.id = any ($1::text[]) and key.revoked_at is null and (key.expires_at is null or key.expires_at > now())
          ) as "keyIds",
          array(
            select encode(session.token_hash, 'base64')
            from holdfast_internal.api_sessions as session left join holdfast_internal.api_keys as key on key.id = session.key_id
            where session.token_hash = any (array(select decode(hash, 'base64') from unnest($2::text[]) as hash)) and ${isLive}
          ) as "tokenHashes"`,
    },
    [keyIds, tokenHashes],
  )
  return { keyIds: new Set(row?.keyIds), tokenHashes: new Set(row?.tokenHashes) }
}

/** Index: api_sessions_pkey. */
export async function deleteSession(database: Database, tokenHash: Buffer): Promise<void> {
  await database.query(
    {
      name: 'delete_session',
      text: `
        with ended as (delete from holdfast_internal.api_sessions where token_hash = $1 returning name)
        select holdfast_internal.audit('session:' || name, 'session.ended', 'session:' || name) from ended`,
    },
    [tokenHash],
  )
}

/**
 * Ends all sessions, or those started with one key. Ending all also deletes unused sign-in links. Returns the
 * number of sessions. Indexes: none is needed, sessions are few.
 */
export async function deleteSessions(
  database: Database,
  keyId: string | null,
  actor: string,
): Promise<number> {
  const [row] = await database.query<{ ended: number }>(
    {
      name: 'delete_sessions',
      text: `
        with ended as (
          delete from holdfast_internal.api_sessions where $1::text is null or key_id = $1 returning 1
        ), links as (
          delete from holdfast_internal.sign_in_links where $1::text is null
        ), counted as (
          select count(*)::integer as ended from ended
        )
        select ended from counted, lateral holdfast_internal.audit($2, 'sessions.ended', case when $1::text is null then 'sessions' else 'api-key:' || $1 end,
          jsonb_build_object('count', ended))`,
    },
    [keyId, actor],
  )
  return row?.ended ?? 0
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

/** Returns whether the link was valid; it can't be used again. Index: sign_in_links_pkey. */
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
