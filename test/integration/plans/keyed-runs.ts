import type { Queryable } from '../../../bench/workload/operator-dataset.ts'

/** Queues whose runs have priorities, ordering keys, concurrency keys (one run of a key at a time), a time to come or fair keys, or wait aside for their job; and a job with limits of its own. */
export const keyedQueues = [
  'prioritised',
  'ordered',
  'concurrent',
  'later',
  'fair',
  'aside',
  'limited',
] as const

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
           case when job.name = 'fair' then 'key-' || n % greatest(${count} / 20, 1) end, job.name = 'aside',
           case when job.name = 'later' then now() + (n - ${count} / 2) * interval '1 second'
                when job.name in ('ordered', 'concurrent', 'limited') then now() - (${count} - n) * interval '1 millisecond'
                when job.name in ('fair', 'aside') then 'infinity' end
    from generate_series(1, ${count}) as n cross join holdfast_internal.jobs as job
    where job.name in (${keyedQueues.map((name) => `'${name}'`).join(', ')})
    order by n`)
  await connection.query(`
    insert into holdfast_internal.idempotency_keys (scope, key, body_hash, result, expires_at)
    select 'lane:1', 'key-' || n, '', '[]', now() + interval '1 day' from generate_series(1, ${count}) as n`)
}
