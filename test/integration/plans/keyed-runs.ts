import type { Queryable } from '../../../bench/workload/operator-dataset.ts'

/** Queues whose runs have priorities, ordering keys, concurrency keys (one run of a key at a time), a time to come, or a target. */
export const keyedQueues = ['prioritised', 'ordered', 'concurrent', 'later'] as const

export async function defineKeyedQueues(connection: Queryable): Promise<void> {
  for (const queue of keyedQueues) {
    await connection.query(`
      insert into holdfast_internal.jobs (name, queue_id) values ('${queue}', holdfast_internal.ensure_queue('${queue}'))`)
  }
}

/** `count` runs in each of them, and as many idempotency keys, written row by row as publishers do. */
export async function fillKeyedRuns(connection: Queryable, count: number): Promise<void> {
  await connection.query(`
    insert into holdfast_internal.runs (id, lane_id, job_id, priority, ordering_key, concurrency_key, due_at)
    select nextval('holdfast_internal.ids'), job.queue_id, job.id, case when job.name = 'prioritised' then n % 4 else 0 end,
           case when job.name = 'ordered' then 'key-' || n % greatest(${count} / 20, 1) end,
           case when job.name = 'concurrent' then 'key-' || n % greatest(${count} / 20, 1) end,
           case when job.name = 'later' then now() + (n - ${count} / 2) * interval '1 second' end
    from generate_series(1, ${count}) as n cross join holdfast_internal.jobs as job
    where job.name in (${keyedQueues.map((name) => `'${name}'`).join(', ')})
    order by n`)
  await connection.query(`
    insert into holdfast_internal.idempotency_keys (scope, key, body_hash, result, expires_at)
    select 'lane:1', 'key-' || n, '', '[]', now() + interval '1 day' from generate_series(1, ${count}) as n`)
}
