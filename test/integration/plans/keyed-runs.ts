import type { Queryable } from '../../../bench/workload/operator-dataset.ts'

/** Queues whose runs have priorities, ordering keys, concurrency keys (one run of a key at a time), a time to come or fair keys, new and due again, or wait aside for their job; and a job with limits of its own. */
export const keyedQueues = [
  'prioritised',
  'ordered',
  'concurrent',
  'later',
  'fair',
  'fair-again',
  'aside',
  'limited',
  'bundled',
  'unpacked',
] as const

/** Runs with ordering keys that share rows; in `unpacked`, a younger one of each hundredth key has a row of its own, so that claims have to look for older ones. */
const bundledQueues = ['bundled', 'unpacked'] as const
const runsInBundle = 100

export async function defineKeyedQueues(connection: Queryable): Promise<void> {
  for (const queue of keyedQueues) {
    await connection.query(`
      insert into holdfast_internal.jobs (name, queue_id) values ('${queue}', holdfast_internal.ensure_queue('${queue}'))`)
  }
  await connection.query(`
    update holdfast_internal.jobs set defaults = '{"concurrency": 100000, "ratePerSecond": 1000000, "ratePerSecondPerKey": 1000}' where name = 'limited'`)
}

/** `count` runs in each of them, and as many idempotency keys, written row by row as publishers do. */
export async function fillKeyedRuns(connection: Queryable, count: number): Promise<void> {
  await connection.query(`
    insert into holdfast_internal.runs (id, lane_id, job_id, priority, ordering_key, concurrency_key, fair_key, is_aside, due_at)
    select nextval('holdfast_internal.ids'), job.queue_id, job.id, case when job.name = 'prioritised' then n % 4 else 0 end,
           case when job.name = 'ordered' then 'key-' || n % greatest(${count} / 20, 1) end,
           case when job.name in ('concurrent', 'limited') then 'key-' || n % greatest(${count} / 20, 1) end,
           case when job.name in ('fair', 'fair-again') then 'key-' || n % greatest(${count} / 20, 1) end, job.name = 'aside',
           case when job.name = 'later' then now() + (n - ${count} / 2) * interval '1 second'
                when job.name in ('ordered', 'concurrent', 'limited', 'fair-again') then now() - (${count} - n) * interval '1 millisecond'
                when job.name in ('fair', 'aside') then 'infinity' end
    from generate_series(1, ${count}) as n cross join holdfast_internal.jobs as job
    where job.name in (${keyedQueues
      .filter((name) => !bundledQueues.some((other) => other === name))
      .map((name) => `'${name}'`)
      .join(', ')})
    order by n`)
  for (const queue of bundledQueues) {
    await connection.query(`
      with block as (
        select setval('holdfast_internal.ids', nextval('holdfast_internal.ids') + ${count}) - ${count} as first_id
      )
      insert into holdfast_internal.run_bundles (lane_id, priority, first_id, last_id, job_id, published_by, ordering_keys, before_keys)
      select job.queue_id, 0, start.id, start.id + ${runsInBundle - 1}, job.id, pg_current_xact_id(),
             array(select 'key-' || (n * ${runsInBundle} + place) % greatest(${count} / 20, 1) from generate_series(1, ${runsInBundle}) as place), start.id - 1
      from block cross join generate_series(1, ${count / runsInBundle}) as n cross join holdfast_internal.jobs as job
      cross join lateral (select block.first_id + (n - 1) * ${runsInBundle}) as start (id)
      where job.name = '${queue}'`)
  }
  await connection.query(`
    insert into holdfast_internal.runs (id, lane_id, job_id, priority, ordering_key, due_at)
    select nextval('holdfast_internal.ids'), job.queue_id, job.id, 3, 'key-' || n * 100, now() - interval '1 minute'
    from generate_series(1, ${count} / 2000) as n cross join holdfast_internal.jobs as job where job.name = 'unpacked'`)
  await connection.query(`
    insert into holdfast_internal.idempotency_keys (scope, key, body_hash, result, expires_at)
    select 'lane:1', 'key-' || n, '', '[]', now() + interval '1 day' from generate_series(1, ${count}) as n`)
}
