import type { Database } from './database.ts'

/** What became of claiming an idempotency key. */
export type ResultClaim =
  | { readonly kind: 'ours' }
  | { readonly kind: 'in_flight' }
  | { readonly kind: 'other_request' }
  | { readonly kind: 'done'; readonly status: number; readonly body: string | null }

/**
 * Claims the key for one write. A claim whose process died is taken over when its lock has run out; an expired result is
 * replaced. Index: api_results_pkey.
 */
export async function claimResult(
  database: Database,
  owner: string,
  key: string,
  requestHash: Buffer,
  limits: { readonly lockMs: number; readonly keepMs: number },
): Promise<ResultClaim> {
  const claimed = await database.query(
    {
      name: 'claim_result',
      text: `
        insert into holdfast.api_results as result (owner, key, request_hash, locked_until, expires_at)
        values ($1, $2, $3, now() + $4::float8 * interval '1 ms', now() + $5::float8 * interval '1 ms')
        on conflict (owner, key) do update
          set request_hash = excluded.request_hash, status = null, body = null,
              locked_until = excluded.locked_until, expires_at = excluded.expires_at
          where result.expires_at < now()
             or result.status is null and result.locked_until < now() and result.request_hash = excluded.request_hash
        returning 1 as claimed`,
    },
    [owner, key, requestHash, limits.lockMs, limits.keepMs],
  )
  if (claimed.length > 0) return { kind: 'ours' }
  const rows = await database.query<{ isSame: boolean; status: number | null; body: string | null }>(
    {
      name: 'read_result',
      text: `select request_hash = $3 as "isSame", status, body from holdfast.api_results where owner = $1 and key = $2`,
    },
    [owner, key, requestHash],
  )
  const found = rows[0]
  // It was released between the two statements: whoever asks again will get it.
  if (found === undefined) return { kind: 'in_flight' }
  if (!found.isSame) return { kind: 'other_request' }
  if (found.status === null) return { kind: 'in_flight' }
  return { kind: 'done', status: found.status, body: found.body }
}

/** Index: api_results_pkey. */
export async function keepResult(
  database: Database,
  owner: string,
  key: string,
  status: number,
  body: string | null,
): Promise<void> {
  await database.query(
    {
      name: 'keep_result',
      text: 'update holdfast.api_results set status = $3, body = $4 where owner = $1 and key = $2',
    },
    [owner, key, status, body],
  )
}

/** The write came to nothing and may be tried again under the same key. Index: api_results_pkey. */
export async function releaseResult(database: Database, owner: string, key: string): Promise<void> {
  await database.query(
    {
      name: 'release_result',
      text: 'delete from holdfast.api_results where owner = $1 and key = $2 and status is null',
    },
    [owner, key],
  )
}

/** Forgets what has expired, some at a time. Index: api_results_expiry. */
export async function purgeResults(database: Database, limit: number): Promise<number> {
  const rows = await database.query(
    {
      name: 'purge_results',
      text: `
        delete from holdfast.api_results where (owner, key) in
          (select owner, key from holdfast.api_results where expires_at < now() order by expires_at limit $1)
        returning 1 as purged`,
    },
    [limit],
  )
  return rows.length
}
