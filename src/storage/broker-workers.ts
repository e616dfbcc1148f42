import type { Database } from './database.ts'
import { type PeerBeat, registerWorker, type WorkerRegistration } from './workers.ts'

export async function joinBrokerWorker(database: Database, worker: WorkerRegistration) {
  return registerWorker(database, worker, 'join_broker_worker')
}

export interface BrokerWorkerRow {
  readonly incarnation: number
  readonly name: string
  readonly laneIds: readonly number[]
  readonly queues: readonly string[]
  readonly jobIds: readonly number[]
  readonly concurrency: number
}

/** A row per worker. */
export async function readBrokerWorkers(database: Database): Promise<readonly BrokerWorkerRow[]> {
  return database.query<BrokerWorkerRow>(
    {
      name: 'read_broker_workers',
      text: `
        select worker.incarnation, worker.name, worker.lanes as "laneIds", coalesce(worker.job_ids, '{}') as "jobIds", worker.concurrency,
               array(
                 select queue.name from unnest(worker.lanes) with ordinality as lane (id, place)
                 join holdfast_internal.queues as queue on queue.id = lane.id order by lane.place
               ) as queues
        from holdfast_internal.workers as worker where worker.via = 'broker' and worker.state = 'active'`,
    },
    [],
  )
}

export async function readBrokerBeats(
  database: Database,
): Promise<{ readonly peers: readonly PeerBeat[]; readonly beatsThroughMs: number }> {
  const rows = await database.query<{ peers: PeerBeat[]; ms: number | null }>(
    {
      name: 'broker_beats',
      text: `
        select peers, case when beats_through > '-infinity' then extract(epoch from beats_through)::float8 * 1000 end as ms
        from holdfast_internal.broker_beats()`,
    },
    [],
  )
  return { peers: rows[0]?.peers ?? [], beatsThroughMs: rows[0]?.ms ?? 0 }
}

export async function noteBrokerTick(
  database: Database,
  queue: 'beats' | 'results',
  atMs: number,
): Promise<void> {
  await database.query(
    { name: 'note_broker_tick', text: 'select holdfast_internal.note_broker_tick($1, $2)' },
    [queue, atMs],
  )
}

/** The database's time, and the time up to which results were handled, in milliseconds since 1970. A table of one row. */
export async function readResultsThrough(
  database: Database,
): Promise<{ readonly nowMs: number; readonly throughMs: number }> {
  const rows = await database.query<{ nowMs: number; throughMs: number | null }>(
    {
      name: 'read_results_through',
      text: `
        select extract(epoch from clock_timestamp())::float8 * 1000 as "nowMs",
               case when results_through > '-infinity' then extract(epoch from results_through)::float8 * 1000 end as "throughMs"
        from holdfast_internal.broker_state`,
    },
    [],
  )
  return { nowMs: rows[0]?.nowMs ?? 0, throughMs: rows[0]?.throughMs ?? 0 }
}
