import type { Database } from './database.ts'

/** True for one caller in each interval, over all processes. Index: keeper_rounds_pkey. */
export async function takeRound(database: Database, round: string, intervalMs: number): Promise<boolean> {
  const rows = await database.query(
    {
      name: 'take_round',
      text: `
        insert into holdfast.keeper_rounds as known (name, next_at)
        select $1, clock_timestamp() + make_interval(secs => $2::float8 / 1000)
        -- A conflict would lock the row; most looks come too early and shall write nothing.
        where not exists (select from holdfast.keeper_rounds where name = $1 and next_at > clock_timestamp())
        on conflict (name) do update set next_at = excluded.next_at where known.next_at <= clock_timestamp()
        returning name`,
    },
    [round, intervalMs],
  )
  return rows.length > 0
}

/** Ends runs that nobody ran in time. Index: runs_expiring. */
export async function expireRuns(database: Database, maxRows: number, by: number): Promise<number> {
  return count(database, 'expire_runs', 'select holdfast.expire_runs($1, $2) as count', [maxRows, by])
}

/** Ends (or shares) runs whose worker never took them. Index: runs_ttl. */
export async function expireTargets(database: Database, maxRows: number, by: number): Promise<number> {
  return count(database, 'expire_targets', 'select holdfast.expire_targets($1, $2) as count', [maxRows, by])
}

/** Runs that a living worker has lost sight of. Index: run_claims (a few rows a worker), runs_pkey. */
export async function sweepZombies(
  database: Database,
  thresholdMs: number,
  maxRows: number,
  by: number,
): Promise<number> {
  const text = 'select holdfast.sweep_zombies($1, $2, $3) as count'
  return count(database, 'sweep_zombies', text, [thresholdMs, maxRows, by])
}

/** Safety nets: parked runs whose key is free, and due runs below a floor. Indexes: runs_due, queue_cursors_pkey. */
export async function reviveRuns(database: Database, maxRows: number): Promise<number> {
  await database.query(
    { name: 'rewind_floors', text: 'select holdfast.rewind_floors(id) from holdfast.queues' },
    [],
  )
  return count(database, 'unpark_stranded', 'select holdfast.unpark_stranded($1) as count', [maxRows])
}

export async function reenableJobs(database: Database): Promise<number> {
  const rows = await database.query(
    { name: 'reenable_jobs', text: `select holdfast.reenable_jobs('holdfast')` },
    [],
  )
  return rows.length
}

/** What ended runs left behind: progress that nobody cleared, unique keys whose run is over. Bounded. */
export async function clearLeftovers(database: Database): Promise<void> {
  await database.query(
    {
      name: 'clear_old_progress',
      text: `
        delete from holdfast.run_progress where run_id in (
          select run_id from holdfast.run_progress as old where updated_at < now() - interval '5 minutes'
            and not exists (select from holdfast.runs where id = old.run_id) limit 1000
        )`,
    },
    [],
  )
  await database.query(
    {
      name: 'clear_unique_keys',
      text: `
        delete from holdfast.idempotency_keys where (scope, key) in (
          select scope, key from holdfast.idempotency_keys as held where expires_at = 'infinity'
            and not exists (select from holdfast.runs where id = (held.result ->> 0)::bigint) limit 1000
        )`,
    },
    [],
  )
}

async function count(database: Database, name: string, text: string, values: unknown[]): Promise<number> {
  const rows = await database.query<{ count: number }>({ name, text }, values)
  return rows[0]?.count ?? 0
}
