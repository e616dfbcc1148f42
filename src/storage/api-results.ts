import type { Database } from './database.ts'

export interface KeptResult {
  /** False: the idempotency key was used for another request. */
  readonly isSame: boolean
  readonly status: number
  readonly body: string | null
}

/** Locks the idempotency key until our transaction ends. False if another transaction holds it. */
export async function lockResultKey(database: Database, owner: string, key: string): Promise<boolean> {
  const rows = await database.query<{ isOurs: boolean }>(
    {
      name: 'lock_result_key',
      text: `select pg_try_advisory_xact_lock(hashtext('holdfast.api_result'), hashtext($1 || ' ' || $2)) as "isOurs"`,
    },
    [owner, key],
  )
  return rows[0]?.isOurs ?? false
}

/** Index: api_results_pkey. */
export async function readResult(
  database: Database,
  owner: string,
  key: string,
  requestHash: Buffer,
): Promise<KeptResult | undefined> {
  const rows = await database.query<KeptResult>(
    {
      name: 'read_result',
      text: `
        select request_hash = $3 as "isSame", status, body from holdfast_internal.api_results
        where owner = $1 and key = $2 and expires_at > now()`,
    },
    [owner, key, requestHash],
  )
  return rows[0]
}

/** Replaces a result that has expired. Index: api_results_pkey. */
export async function keepResult(
  database: Database,
  owner: string,
  key: string,
  result: {
    readonly requestHash: Buffer
    readonly status: number
    readonly body: string | null
    readonly keepMs: number
  },
): Promise<void> {
  await database.query(
    {
      name: 'keep_result',
      text: `
        insert into holdfast_internal.api_results (owner, key, request_hash, status, body, expires_at)
        values ($1, $2, $3, $4, $5, now() + $6::float8 * interval '1 ms')
        on conflict (owner, key) do update set request_hash = excluded.request_hash, status = excluded.status,
          body = excluded.body, expires_at = excluded.expires_at`,
    },
    [owner, key, result.requestHash, result.status, result.body, result.keepMs],
  )
}
