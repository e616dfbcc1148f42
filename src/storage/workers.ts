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

export async function registerWorker(
  database: Database,
  worker: WorkerRegistration,
): Promise<{ readonly incarnation: number; readonly laneIds: readonly number[] }> {
  const rows = await database.query<{ incarnation: number; lanes: number[] }>(
    {
      name: 'register_worker',
      text: 'select incarnation, lanes from holdfast_internal.register_worker($1, $2, $3, $4, $5, $6, $7, $8)',
    },
    [
      worker.name,
      worker.version,
      worker.host,
      worker.pid,
      worker.queues,
      worker.tags,
      worker.concurrency,
      worker.leaseMs,
    ],
  )
  const [row] = rows
  if (row === undefined) throw new Error('register_worker returned no row')
  return { incarnation: row.incarnation, laneIds: row.lanes }
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
  /** False when somebody declared this incarnation dead. */
  readonly isKnown: boolean
  readonly state: 'active' | 'draining' | 'stopping' | null
  readonly peers: readonly PeerBeat[]
  readonly cancellations: readonly Cancellation[]
  /** Of the server: another one may not know what this worker has claimed. */
  readonly life: string
}

export async function readAllowsPrepared(database: Database): Promise<boolean> {
  const rows = await database.query<{ allowsPrepared: boolean }>(
    { name: 'read_allows_prepared', text: `select ${allowsPrepared} as "allowsPrepared"` },
    [],
  )
  return rows[0]?.allowsPrepared ?? false
}

/** Served by the primary key of workers (a fleet's rows) and run_cancellations_worker. */
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

/** What was recovered from workers that died, or that had lost sight of it. */
export interface RecoveredRuns {
  readonly runs: number
  /** Of these, how many became dead letters. */
  readonly dead: number
  /** How many attempts were under way, as far as is known. */
  readonly interrupted: number
  /** Of the first twenty. */
  readonly correlationIds: readonly string[]
}

export const nothingRecovered: RecoveredRuns = { runs: 0, dead: 0, interrupted: 0, correlationIds: [] }

/** Takes everything from a worker that is dead, if its beat still stands there. */
export async function buryWorker(
  database: Database,
  dead: number,
  seenBeat: number,
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

/** Nothing of it is left behind: what it still held goes back uncounted. */
export async function retireWorker(database: Database, incarnation: number): Promise<void> {
  await database.query({ name: 'retire_worker', text: 'select holdfast_internal.retire_worker($1)' }, [
    incarnation,
  ])
}

/** By the primary key of workers. */
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

/** The queues that it takes from now; returns their lanes. By the primary key of workers. */
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
}

/** The fleet, by the primary key. */
export async function listWorkers(database: Database, limit: number): Promise<WorkerRow[]> {
  return database.query<WorkerRow>(
    {
      name: 'list_workers',
      text: `
        select worker.incarnation, worker.name, worker.version, worker.host, worker.pid, worker.tags, worker.concurrency,
               worker.state, worker.running, worker.started_at, worker.beat_at,
               array(select queue.name from holdfast_internal.queues as queue where queue.id = any (worker.lanes) order by queue.name) as queues
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

/** By the primary key of workers. */
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

/** Those that are alive. A scan of workers, which are a fleet's. */
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
