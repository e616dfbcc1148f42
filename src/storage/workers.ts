import { numberArray } from './array-literal.ts'
import type { Database } from './database.ts'
import { allowsPrepared } from './read-arrivals.ts'
import { serverLife } from './watermark.ts'

export interface WorkerRegistration {
  readonly name: string
  readonly version: string
  readonly host: string
  readonly pid: number
  readonly queues: readonly string[]
  readonly tags: readonly string[]
  readonly concurrency: number
  readonly leaseMs: number
}

/** @param by The function that registers it: a worker in broker mode has no connection, so a node registers it. Index: workers_pkey. */
export async function registerWorker(
  database: Database,
  worker: WorkerRegistration,
  by: 'register_worker' | 'join_broker_worker' = 'register_worker',
): Promise<{ readonly incarnation: number; readonly laneIds: readonly number[] }> {
  const { name, version, host, pid, queues, tags, concurrency, leaseMs } = worker
  const rows = await database.query<{ incarnation: number; lanes: number[] }>(
    {
      name: by,
      text: `select incarnation, lanes from holdfast_internal.${by}($1, $2, $3, $4, $5, $6, $7, $8)`,
    },
    [name, version, host, pid, queues, tags, concurrency, leaseMs],
  )
  const [row] = rows
  if (row === undefined) throw new Error(`${by} returned no row`)
  return { incarnation: row.incarnation, laneIds: row.lanes }
}

export interface WorkerJobs {
  /** Ids of the jobs that the worker has handlers for. */
  readonly ids: readonly number[]
  /** False if a declaration was deleted with its job. */
  readonly areDeclared: boolean
}

/** Stores which jobs the worker has handlers for, and its declarations. Indexes: jobs_name_key, workers_pkey, job_declarations_pkey. */
export async function setWorkerJobs(
  database: Database,
  incarnation: number,
  jobNames: readonly string[],
  declarations: readonly number[],
): Promise<WorkerJobs> {
  const rows = await database.query<{ ids: number[]; are_declared: boolean }>(
    {
      name: 'set_worker_jobs_v2',
      text: 'select ids, are_declared from holdfast_internal.set_worker_jobs_v2($1, $2, $3)',
    },
    [incarnation, jobNames, declarations],
  )
  return { ids: rows[0]?.ids ?? [], areDeclared: rows[0]?.are_declared ?? true }
}

export interface PeerBeat {
  readonly incarnation: number
  readonly beat: number
  readonly leaseMs: number
}

export interface Cancellation {
  readonly id: number
  readonly reason: string | null
}

export interface WorkerBeat {
  /** False if this incarnation was declared dead. */
  readonly isKnown: boolean
  readonly state: 'active' | 'draining' | 'stopping' | null
  readonly peers: readonly PeerBeat[]
  readonly cancellations: readonly Cancellation[]
  /** Identifies the server start: another server may not know this worker's claims. */
  readonly life: string
}

export async function readAllowsPrepared(database: Database): Promise<boolean> {
  const rows = await database.query<{ allowsPrepared: boolean }>(
    { name: 'read_allows_prepared', text: `select ${allowsPrepared} as "allowsPrepared"` },
    [],
  )
  return rows[0]?.allowsPrepared ?? false
}

/** Returns false if this incarnation was declared dead. Index: the primary key of workers. */
export async function isKnownWorker(database: Database, incarnation: number): Promise<boolean> {
  const rows = await database.query<{ incarnation: number }>(
    {
      name: 'is_known_worker',
      text: 'select incarnation from holdfast_internal.workers where incarnation = $1',
    },
    [incarnation],
  )
  return rows.length > 0
}

/** Indexes: the primary key of workers (one row per worker) and run_cancellations_worker. */
export async function beatWorker(
  database: Database,
  incarnation: number,
  running: number,
): Promise<WorkerBeat> {
  const rows = await database.query<{
    is_known: boolean
    worker_state: WorkerBeat['state']
    peers: PeerBeat[]
    cancelled: Cancellation[] | null
    life: string
  }>(
    {
      name: 'beat_worker',
      text: `select is_known, worker_state, peers, cancelled, ${serverLife} as life from holdfast_internal.beat_worker($1, $2)`,
    },
    [incarnation, running],
  )
  const [row] = rows
  if (row === undefined) throw new Error('beat_worker returned no row')
  return {
    isKnown: row.is_known,
    state: row.worker_state,
    peers: row.peers,
    cancellations: row.cancelled ?? [],
    life: row.life,
  }
}

export async function readWorkerBeats(database: Database): Promise<readonly PeerBeat[]> {
  const rows = await database.query<{ peers: PeerBeat[] }>(
    { name: 'worker_beats', text: 'select holdfast_internal.worker_beats() as peers' },
    [],
  )
  return rows[0]?.peers ?? []
}

/** Runs recovered from workers that died, or that had lost track of them. */
export interface RecoveredRuns {
  readonly runs: number
  /** How many of these became dead letters. */
  readonly dead: number
  /** How many attempts were in progress, as far as known. */
  readonly interrupted: number
  /** Of the first twenty runs. */
  readonly correlationIds: readonly string[]
}

export const nothingRecovered: RecoveredRuns = { runs: 0, dead: 0, interrupted: 0, correlationIds: [] }

/** Takes all runs from a dead worker, if its heartbeat counter is still `seenBeat` (null: in any case). */
export async function buryWorker(
  database: Database,
  dead: number,
  seenBeat: number | null,
  by: number,
): Promise<RecoveredRuns> {
  const rows = await database.query<RecoveredRuns>(
    {
      name: 'bury_worker_v3',
      text: `select lost_runs as runs, buried as dead, interrupted, correlation_ids as "correlationIds" from holdfast_internal.bury_worker_v3($1, $2, $3)`,
    },
    [dead, seenBeat, by],
  )
  return rows[0] ?? nothingRecovered
}

/**
 * One of these runs blocks the worker's event loop. Runs that the worker has claimed and not begun return to their queue uncounted, and the node that
 * recovers the worker counts the crash against the blocking runs only. Indexes: workers_pkey, run_claims_worker, runs_pkey.
 */
export async function reportBlocked(
  database: Database,
  incarnation: number,
  blocking: readonly number[],
  unbegun: readonly number[],
): Promise<void> {
  await database.query(
    { name: 'report_blocked', text: 'select holdfast_internal.report_blocked($1, $2, $3)' },
    [incarnation, numberArray(blocking), numberArray(unbegun)],
  )
}

/** The event loop is no longer blocked. Index: the primary key of workers. */
export async function clearBlocked(database: Database, incarnation: number): Promise<void> {
  await database.query(
    {
      name: 'clear_blocked',
      text: 'update holdfast_internal.workers set blocked_runs = null, blocked_at = null where incarnation = $1',
    },
    [incarnation],
  )
}

/** Removes a worker that stops: runs that it still held return to their queue uncounted. */
export async function retireWorker(database: Database, incarnation: number): Promise<void> {
  await database.query({ name: 'retire_worker', text: 'select holdfast_internal.retire_worker($1)' }, [
    incarnation,
  ])
}

/** Index: the primary key of workers. */
export async function setWorkerAsleep(
  database: Database,
  incarnation: number,
  isAsleep: boolean,
): Promise<void> {
  await database.query(
    {
      name: 'set_worker_asleep',
      text: 'update holdfast_internal.workers set is_asleep = $2 where incarnation = $1',
    },
    [incarnation, isAsleep],
  )
}

/** Sets the queues that the worker claims from; returns their lanes. Index: the primary key of workers. */
export async function setWorkerQueues(
  database: Database,
  incarnation: number,
  queues: readonly string[],
): Promise<readonly number[]> {
  const rows = await database.query<{ lanes: number[] }>(
    {
      name: 'set_worker_queues',
      text: `
        update holdfast_internal.workers set lanes = array(select holdfast_internal.ensure_queue(name) from unnest($2::text[]) as given (name))
        where incarnation = $1 returning lanes`,
    },
    [incarnation, queues],
  )
  return rows[0]?.lanes ?? []
}

export async function markWorkerStopping(database: Database, incarnation: number): Promise<void> {
  await database.query(
    {
      name: 'mark_worker_stopping',
      text: `update holdfast_internal.workers set state = 'stopping', is_asleep = false where incarnation = $1`,
    },
    [incarnation],
  )
}

export interface WorkerRow {
  readonly incarnation: number
  readonly name: string
  readonly version: string
  readonly host: string
  readonly pid: number
  readonly queues: readonly string[]
  readonly tags: readonly string[]
  readonly concurrency: number
  readonly state: 'active' | 'draining' | 'stopping'
  readonly running: number
  readonly started_at: Date
  readonly beat_at: Date
  readonly blocked_at: Date | null
  readonly blocked_runs: readonly number[] | null
}

/** All workers. Index: the primary key. */
export async function listWorkers(database: Database, limit: number): Promise<WorkerRow[]> {
  return database.query<WorkerRow>(
    {
      name: 'list_workers',
      text: `
        select worker.incarnation, worker.name, worker.version, worker.host, worker.pid, worker.tags, worker.concurrency,
               worker.state, worker.running, worker.started_at, worker.beat_at, worker.blocked_at, worker.blocked_runs,
               array(
                 select queue.name from unnest(worker.lanes) as lane
                 cross join lateral (select one.name from holdfast_internal.queues as one where one.id = lane limit 1) as queue order by queue.name
               ) as queues
        from holdfast_internal.workers as worker order by worker.incarnation limit $1`,
    },
    [limit],
  )
}

export async function drainWorker(database: Database, incarnation: number, actor: string): Promise<boolean> {
  const rows = await database.query<{ is_draining: boolean }>(
    { name: 'drain_worker', text: 'select holdfast_internal.drain_worker($1, $2) as is_draining' },
    [incarnation, actor],
  )
  return rows[0]?.is_draining ?? false
}

/** Index: the primary key of workers. */
export async function undrainWorker(
  database: Database,
  incarnation: number,
  actor: string,
): Promise<boolean> {
  const rows = await database.query<{ is_active: boolean }>(
    { name: 'undrain_worker', text: 'select holdfast_internal.undrain_worker($1, $2) as is_active' },
    [incarnation, actor],
  )
  return rows[0]?.is_active ?? false
}

/** The number of live workers. Scans workers, which has one row per worker. */
export async function countWorkers(database: Database): Promise<number> {
  const rows = await database.query<{ workers: number }>(
    {
      name: 'count_workers',
      text: `
        select count(*)::integer as workers from holdfast_internal.workers
        where beat_at > clock_timestamp() - make_interval(secs => greatest(10, lease_ms / 1000.0))`,
    },
    [],
  )
  return rows[0]?.workers ?? 0
}
