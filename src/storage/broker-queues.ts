import type { Database } from './database.ts'

/** Index: the primary key. */
export async function noteBrokerQueue(
  database: Database,
  name: string,
  worker: string | null,
  ttlMs: number | null,
): Promise<void> {
  await database.query(
    {
      name: 'note_broker_queue',
      text: `
        insert into holdfast_internal.broker_queues (name, worker, ttl_ms) values ($1, $2, $3)
        on conflict (name) do update set declared_at = clock_timestamp()`,
    },
    [name, worker, ttlMs],
  )
}

export interface BrokerQueueRow {
  readonly name: string
  readonly worker: string | null
  readonly ttlMs: number | null
  /** No worker of this name has been alive for longer than the queue's TTL. */
  readonly isRetired: boolean
}

const isRetired = `
  queue.worker is not null and queue.declared_at < clock_timestamp() - make_interval(secs => queue.ttl_ms / 1000 + 60)
  and not exists (select from holdfast_internal.workers as alive where alive.name = queue.worker and alive.via = 'broker')`

/** One row per worker name and job queue; 10,000 at most. */
export async function readBrokerQueues(database: Database): Promise<readonly BrokerQueueRow[]> {
  return database.query<BrokerQueueRow>(
    {
      name: 'read_broker_queues',
      text: `
        select queue.name, queue.worker, queue.ttl_ms as "ttlMs",
               ${isRetired} as "isRetired"
        from holdfast_internal.broker_queues as queue order by queue.name limit 10000`,
    },
    [],
  )
}

/** Deletes the row if the queue is still retired; returns whether it was. Index: the primary key. */
export async function forgetBrokerQueue(database: Database, name: string): Promise<boolean> {
  const rows = await database.query<{ name: string }>(
    {
      name: 'forget_broker_queue',
      text: `delete from holdfast_internal.broker_queues as queue where queue.name = $1 and ${isRetired} returning queue.name`,
    },
    [name],
  )
  return rows.length > 0
}

export interface BrokerQueueUnseen extends Omit<BrokerQueueRow, 'isRetired'> {
  /** A worker of this name is alive. */
  readonly isAlive: boolean
}

/** The queues of this prefix that no node checked in the last 8 s, the longest unchecked first. One row per worker name and job queue. */
export async function readBrokerQueuesUnseen(
  database: Database,
  prefix: string,
  limit: number,
): Promise<readonly BrokerQueueUnseen[]> {
  return database.query<BrokerQueueUnseen>(
    {
      name: 'read_broker_queues_unseen',
      text: `
        select queue.name, queue.worker, queue.ttl_ms as "ttlMs",
               exists (select from holdfast_internal.workers as alive where alive.name = queue.worker and alive.via = 'broker') as "isAlive"
        from holdfast_internal.broker_queues as queue
        where starts_with(queue.name, $1 || '.') and coalesce(queue.seen_at, '-infinity') < clock_timestamp() - interval '8 seconds'
        order by queue.seen_at nulls first, queue.name limit $2`,
    },
    [prefix, limit],
  )
}

export interface BrokerQueueSeen {
  readonly name: string
  /** Null: the queue doesn't exist. */
  readonly messages: number | null
  readonly consumers: number | null
  readonly problem: { readonly message: string; readonly fix: string } | null
}

/** Index: the primary key. */
export async function noteBrokerQueuesSeen(
  database: Database,
  seen: readonly BrokerQueueSeen[],
): Promise<void> {
  await database.query(
    {
      name: 'note_broker_queues_seen',
      text: `
        update holdfast_internal.broker_queues as queue
        set messages = given.messages, consumers = given.consumers, problem = given.problem, seen_at = clock_timestamp()
        from jsonb_to_recordset($1) as given (name text, messages bigint, consumers integer, problem jsonb)
        where queue.name = given.name`,
    },
    [JSON.stringify(seen)],
  )
}

export interface BrokerQueueView extends BrokerQueueSeen {
  readonly worker: string | null
  readonly ttlMs: number | null
  readonly state: 'active' | 'draining' | 'retired'
  readonly seenAt: Date | null
}

/** Queues with a problem come first. One row per worker name and job queue. */
export async function readBrokerQueueViews(
  database: Database,
  limit: number,
): Promise<readonly BrokerQueueView[]> {
  return database.query<BrokerQueueView>(
    {
      name: 'read_broker_queue_views',
      text: `
        select queue.name, queue.worker, queue.ttl_ms as "ttlMs", queue.messages::float8 as messages, queue.consumers, queue.problem, queue.seen_at as "seenAt",
               case
                 when queue.worker is null then 'active'
                 when not exists (select from holdfast_internal.workers as alive where alive.name = queue.worker and alive.via = 'broker') then 'retired'
                 when exists (
                   select from holdfast_internal.broker_queues as newer where newer.worker = queue.worker and newer.declared_at > queue.declared_at
                 ) then 'draining'
                 else 'active'
               end as state
        from holdfast_internal.broker_queues as queue
        order by queue.problem is null, queue.worker nulls first, queue.name limit $1`,
    },
    [limit],
  )
}
