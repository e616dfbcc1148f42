import type { Database } from './database.ts'
import { nothingRecovered, type RecoveredRuns } from './workers.ts'

/**
 * Returns whether the caller runs this round, which one process does in each interval, and the time until the next. An interval
 * given by name is a setting. Index: keeper_rounds_pkey, settings_pkey.
 */
export async function takeRound(
  database: Database,
  round: string,
  interval: number | 'zombie_check_ms',
): Promise<{ readonly isOurs: boolean; readonly nextMs: number }> {
  const rows = await database.query<{ is_ours: boolean; next_ms: number }>(
    {
      name: 'take_round',
      text: `
        with every as (
          select coalesce($2::float8, holdfast_internal.setting_integer($3)) as ms
        ), early as (
          -- A conflict would lock the row; a check that comes too early must write nothing.
          select next_at from holdfast_internal.keeper_rounds where name = $1 and next_at > clock_timestamp()
        ), taken as (
          insert into holdfast_internal.keeper_rounds as known (name, next_at)
          select $1, clock_timestamp() + make_interval(secs => every.ms / 1000) from every where not exists (select from early)
          on conflict (name) do update set next_at = excluded.next_at where known.next_at <= clock_timestamp()
          returning name
        )
        -- After a crash it doesn't matter which process had the round: don't wait for the disk.
        select exists (select from taken) as is_ours, set_config('synchronous_commit', 'off', true),
               coalesce((select extract(epoch from next_at - clock_timestamp())::float8 * 1000 from early), (select ms from every)) as next_ms`,
    },
    typeof interval === 'number' ? [round, interval, null] : [round, null, interval],
  )
  const [row] = rows
  if (row === undefined) throw new Error('take_round returned nothing')
  return { isOurs: row.is_ours, nextMs: row.next_ms }
}

/**
 * Ends expired runs, ends (or shares) runs that their target worker never took, enables jobs whose cooldown is over, and returns runs to their queue
 * that were set aside and whose jobs are active again. Indexes: runs_expiring, runs_ttl, jobs_unparking.
 */
export async function sweepRuns(database: Database, maxRows: number, by: number): Promise<void> {
  await database.query(
    {
      name: 'sweep_runs',
      text: `select holdfast_internal.expire_runs($1, $2), holdfast_internal.expire_targets($1, $2),
               (select count(*) from holdfast_internal.reenable_jobs('holdfast'))`,
    },
    [maxRows, by],
  )
}

/** Recovers runs that a live worker has lost track of. Null threshold: that of the setting. Index: run_claims (a few rows per worker), runs_pkey. */
export async function sweepZombies(
  database: Database,
  thresholdMs: number | null,
  maxRows: number,
  by: number,
): Promise<RecoveredRuns> {
  const rows = await database.query<RecoveredRuns>(
    {
      name: 'sweep_zombies_v3',
      text: `select found_runs as runs, buried as dead, interrupted, correlation_ids as "correlationIds" from holdfast_internal.sweep_zombies_v3($1, $2, $3)`,
    },
    [thresholdMs, maxRows, by],
  )
  return rows[0] ?? nothingRecovered
}

/**
 * Fails runs of one job, if its settings say so, after no live worker had a handler for the job for the threshold (null: that of
 * the setting). Returns how many. Indexes: jobs_pkey; see find_runs.
 */
export async function sweepUnhandled(
  database: Database,
  thresholdMs: number | null,
  maxRows: number,
  by: number,
): Promise<number> {
  return count(database, 'sweep_unhandled', 'select holdfast_internal.sweep_unhandled($1, $2, $3) as count', [
    thresholdMs,
    maxRows,
    by,
  ])
}

/**
 * Lets every queue's due runs be read from the beginning. One transaction per queue: a transaction with the locks of several queues could deadlock
 * with one that settles runs of several queues, and would block all claims together.
 */
export async function rewindFloors(database: Database): Promise<void> {
  const queues = await database.query<{ id: number }>(
    { name: 'list_queue_ids', text: 'select id from holdfast_internal.queues order by id' },
    [],
  )
  for (const { id } of queues) {
    await database.query({ name: 'rewind_floors', text: 'select holdfast_internal.rewind_floors($1)' }, [id])
  }
}

/** Recovery sweep for parked runs whose key is free, and for due runs below a floor. Indexes: runs_parked, queue_cursors_pkey. */
export async function reviveRuns(database: Database, maxRows: number): Promise<number> {
  await rewindFloors(database)
  return count(database, 'unpark_stranded', 'select holdfast_internal.unpark_stranded($1) as count', [
    maxRows,
  ])
}

/**
 * Removes queues from jobs that have left them and have no more runs in them. Returns the number of
 * jobs. Scans 200,000 runs in each call. Index: runs_pkey.
 */
export async function forgetFormerQueues(database: Database): Promise<number> {
  return count(
    database,
    'forget_former_queues',
    'select holdfast_internal.forget_former_queues() as count',
    [],
  )
}

const maxKeysPerLook = 5000
/** Half a million keys per round; the next round continues from there. */
const maxKeyLooks = 100

/** Removes leftovers of ended runs: progress, late cancellations, unique keys. Bounded. */
export async function clearLeftovers(database: Database): Promise<void> {
  await database.query(
    {
      name: 'clear_late_cancellations',
      text: `
        delete from holdfast_internal.run_cancellations where run_id in (
          select run_id from holdfast_internal.run_cancellations as late
          where not exists (select from holdfast_internal.runs where id = late.run_id) limit 1000
        )`,
    },
    [],
  )
  await database.query(
    {
      name: 'clear_old_progress',
      text: `
        delete from holdfast_internal.run_progress where run_id in (
          select run_id from holdfast_internal.run_progress as old where updated_at < now() - interval '5 minutes'
            and not exists (select from holdfast_internal.runs where id = old.run_id)
            and not exists (select from holdfast_internal.run_claims as claim where claim.bundled @> old.run_id) limit 1000
        )`,
    },
    [],
  )
  // Repeats at once if many keys were removed; otherwise the next round continues.
  const text = 'select holdfast_internal.clear_unique_keys($1) as count'
  for (let looks = 0; looks < maxKeyLooks; looks++) {
    const cleared = await count(database, 'clear_unique_keys', text, [maxKeysPerLook])
    if (cleared < maxKeysPerLook / 10) break
  }
}

async function count(database: Database, name: string, text: string, values: unknown[]): Promise<number> {
  const rows = await database.query<{ count: number }>({ name, text }, values)
  return rows[0]?.count ?? 0
}
