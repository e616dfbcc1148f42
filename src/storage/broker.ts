import { numberArray, numberSet } from './array-literal.ts'
import { type ClaimedRun, type ClaimRequest, type ClaimResult, claimRuns } from './claim-runs.ts'
import type { Database } from './database.ts'
import { type PeerBeat, registerWorker, type WorkerRegistration } from './workers.ts'

export async function joinBrokerWorker(database: Database, worker: WorkerRegistration) {
  return registerWorker(database, worker, 'join_broker_worker')
}

/** A claim, and a run of it: ids of claims may be given out again after the server has crashed. */
export interface DispatchToken {
  readonly runId: number
  readonly claimId: number
}

/** The runs of one message. The row of their claim is what every decision about the message compares and swaps. */
export interface Dispatch {
  readonly claimId: number
  /** At least one; each has this claim. */
  readonly runs: readonly ClaimedRun[]
  readonly target: string | null
  readonly ttlMs: number
}

/** Divides what was claimed into the runs of one message each. */
export type DivideRuns = (claimed: ClaimResult) => readonly (readonly ClaimedRun[])[]

/** Claims for a worker of broker mode, and gives each message a token of its own. Indexes: those of `claimRuns`; run_claims_pkey, runs_pkey. */
export async function dispatchRuns(
  database: Database,
  request: ClaimRequest,
  divide: DivideRuns,
): Promise<readonly Dispatch[]> {
  return database.asOne(async (transaction) => {
    const claimed = await claimRuns(transaction, request)
    const [first] = claimed.runs
    if (first === undefined) return []
    const parts = divide(claimed)
    const rows = await transaction.query<Omit<Dispatch, 'runs'> & { readonly part: number }>(
      {
        name: 'dispatch_claim',
        text: `
          select part, claim_id::float8 as "claimId", target, ttl_ms as "ttlMs"
          from holdfast_internal.dispatch_claim_v2($1, $2::int8multirange[])`,
      },
      [first.claimId, parts.map((runs) => numberSet(runs.map(({ id }) => id)))],
    )
    return rows.map(({ part, claimId, target, ttlMs }) => {
      const runs = (parts[part - 1] ?? []).map((run) => ({ ...run, claimId }))
      return { claimId, runs, target, ttlMs }
    })
  })
}

/** The broker has confirmed these. `movable`: those of them that wait for one worker, though others could execute them. Index: run_claims_pkey. */
export async function markPublished(
  database: Database,
  claimIds: readonly number[],
  movable: readonly number[],
): Promise<void> {
  await database.query(
    {
      name: 'mark_published',
      text: `
        update holdfast_internal.run_claims set published_at = clock_timestamp(), may_move = id = any ($2::bigint[])
        where id = any ($1::bigint[]) and worker = 0`,
    },
    [numberArray(claimIds), numberArray(movable)],
  )
}

/** Runs that wait for one worker, which is gone or takes too long, and that others could execute. Returns how many messages they were. Index: run_claims_dispatched. */
export async function returnStranded(database: Database, maxRows: number, by: number): Promise<number> {
  const rows = await database.query<{ returned: number }>(
    { name: 'return_stranded', text: 'select holdfast_internal.return_stranded($1, $2) as returned' },
    [maxRows, by],
  )
  return rows[0]?.returned ?? 0
}

/**
 * Runs whose messages were lost with the shared queues of these job queues, or with the queue of the workers of this name. Returns how many messages they were. Indexes:
 * run_claims_dispatched, queues_name_key, runs_pkey.
 */
export async function returnLostMessages(
  database: Database,
  queues: readonly string[],
  worker: string | null,
  maxRows: number,
  by: number,
): Promise<number> {
  const rows = await database.query<{ returned: number }>(
    {
      name: 'return_lost_messages',
      text: 'select holdfast_internal.return_lost_messages($1, $2, $3, $4) as returned',
    },
    [queues, worker, maxRows, by],
  )
  return rows[0]?.returned ?? 0
}

export interface Suspects {
  /** Runs that were in flight at a crash. */
  readonly suspects: number
  /** Of these, how many were there twice. */
  readonly deadly: number
}

/** What each worker holds, or was dispatched, of runs that were in flight at a crash; of the first 1,000 of each queue. Indexes: runs_suspect, run_claims_pkey. */
export async function countSuspects(
  database: Database,
  laneIds: readonly number[],
): Promise<ReadonlyMap<number, Suspects>> {
  const rows = await database.query<Suspects & { readonly worker: number }>(
    {
      name: 'count_suspects',
      text: `
        select coalesce(nullif(claim.worker, 0), claim.dispatched_for) as worker, count(*)::integer as suspects,
               (count(*) filter (where run.crashes > 1))::integer as deadly
        from unnest($1::integer[]) as lane (id)
        cross join lateral (
          select one.claim_id, one.crashes from holdfast_internal.runs as one
          where one.lane_id = lane.id and one.due_at is not null and one.crashes > 0
          order by one.priority desc, one.due_at limit 1000
        ) as run
        cross join lateral (select one.worker, one.dispatched_for from holdfast_internal.run_claims as one where one.id = run.claim_id limit 1) as claim
        group by 1`,
    },
    [numberArray(laneIds)],
  )
  return new Map(rows.map(({ worker, suspects, deadly }) => [worker, { suspects, deadly }]))
}

/** Returns the runs of the tokens that were no longer valid. Indexes: run_claims_pkey, runs_pkey. */
export async function startDispatched(
  database: Database,
  worker: number,
  tokens: readonly DispatchToken[],
): Promise<readonly number[]> {
  const rows = await database.query<{ lost: number[] }>(
    { name: 'start_dispatched', text: 'select holdfast_internal.start_dispatched($1, $2, $3) as lost' },
    [
      worker,
      numberArray(tokens.map(({ runId }) => runId)),
      numberArray(tokens.map(({ claimId }) => claimId)),
    ],
  )
  return rows[0]?.lost ?? []
}

export interface DispatchEnd extends DispatchToken {
  readonly reason: string
  /** The x-death of its message. */
  readonly history: unknown
}

export interface EndedDispatch {
  readonly runId: number
  readonly outcome: 'failed' | 'returned' | 'ended'
}

/** Ends what has not started, by its token. Indexes: runs_pkey, run_claims_pkey, dead_letters_pkey. */
export async function endDispatches(
  database: Database,
  ends: readonly DispatchEnd[],
  by: number,
): Promise<readonly EndedDispatch[]> {
  return database.query<EndedDispatch>(
    {
      name: 'end_dispatches',
      text: `
        select run_id::float8 as "runId", outcome from holdfast_internal.end_dispatches($1, $2, $3, $4::jsonb[], $5)`,
    },
    [
      numberArray(ends.map(({ runId }) => runId)),
      numberArray(ends.map(({ claimId }) => claimId)),
      ends.map(({ reason }) => reason),
      ends.map(({ history }) => (history === null ? null : JSON.stringify(history))),
      by,
    ],
  )
}

/** The backstop. Index: run_claims_dispatched. */
export async function sweepDispatches(
  database: Database,
  maxRows: number,
  by: number,
): Promise<{ readonly unpublished: number; readonly overdue: number }> {
  const rows = await database.query<{ unpublished: number; overdue: number }>(
    {
      name: 'sweep_dispatches',
      text: 'select unpublished, overdue from holdfast_internal.sweep_dispatches($1, $2)',
    },
    [maxRows, by],
  )
  return rows[0] ?? { unpublished: 0, overdue: 0 }
}

/** How many runs were dispatched for each worker and have not started. Index: run_claims_dispatched. */
export async function countDispatched(database: Database): Promise<ReadonlyMap<number, number>> {
  const rows = await database.query<{ worker: number; runs: number }>(
    {
      name: 'count_dispatched',
      text: `
        select dispatched_for as worker, sum(holdfast_internal.claim_size(run_ids, bundled))::integer as runs
        from holdfast_internal.run_claims where worker = 0 group by 1`,
    },
    [],
  )
  return new Map(rows.map(({ worker, runs }) => [worker, runs]))
}

export interface BrokerWorkerRow {
  readonly incarnation: number
  readonly name: string
  readonly laneIds: readonly number[]
  readonly queues: readonly string[]
  readonly jobIds: readonly number[]
  readonly concurrency: number
}

/** A fleet's rows. */
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

/** The database's clock, and up to when results were handled, in milliseconds since 1970. A table of one row. */
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

export async function reportBroker(
  database: Database,
  incarnation: number,
  node: string,
  report: BrokerReport,
): Promise<void> {
  await database.query(
    { name: 'report_broker', text: 'select holdfast_internal.report_broker($1, $2, $3)' },
    [incarnation, node, JSON.stringify(report)],
  )
}

/** By the primary key. */
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
  /** No worker of its name has been alive for longer than its TTL. */
  readonly isRetired: boolean
}

const isRetired = `
  queue.worker is not null and queue.declared_at < clock_timestamp() - make_interval(secs => queue.ttl_ms / 1000 + 60)
  and not exists (select from holdfast_internal.workers as alive where alive.name = queue.worker and alive.via = 'broker')`

/** Those of a fleet and its queues; 10,000 at most. */
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

export interface BrokerQueueUnseen extends Omit<BrokerQueueRow, 'isRetired'> {
  /** A worker of its name is alive. */
  readonly isAlive: boolean
}

/** The queues of this prefix that no node looked at in the last 8 s, the longest unseen first. Those of a fleet. */
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
  /** Null: it isn't there. */
  readonly messages: number | null
  readonly consumers: number | null
  readonly problem: { readonly message: string; readonly fix: string } | null
}

/** By the primary key. */
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

/** What a node says of its connection, in `broker_reports`; times are ages, by its own monotonic clock. */
export interface BrokerReport {
  readonly state: 'connected' | 'blocked' | 'disconnected'
  /** Why it is not connected, or blocked. */
  readonly error: string | null
  readonly errorCode: string | null
  readonly fix: string | null
  readonly sinceMs: number
  readonly lastFailure: { readonly error: string; readonly agoMs: number } | null
  readonly server: { readonly product: string; readonly version: string } | null
  readonly prefix: string
  readonly deadLetterTtlMs: number
  readonly deliveryLimit: number
  /** Messages received and not acknowledged yet. */
  readonly waiting: number
  /** Ready ones, in the whole queue. */
  readonly deadLetterDepth: number
  /** Those that this node has received and not settled. */
  readonly deadLettersHeld: number
  readonly resultsDepth: number
  readonly dispatched: number
  /** Messages of the dead-letter queue since the node started, by what became of them. */
  readonly failed: number
  readonly returned: number
  readonly ended: number
  readonly unreadable: number
  /** Of `failed`. */
  readonly failedExpired: number
  readonly failedDeliveryLimit: number
  readonly failedRejected: number
  /** Of the last of them. */
  readonly latencyP50Ms: number | null
  readonly latencyP95Ms: number | null
  /** Messages of any queue that this node could not read. */
  readonly rejected: number
}

export interface BrokerReportRow {
  readonly node: string
  readonly report: Partial<BrokerReport>
  readonly reportedAtMs: number
}

/** At most one row a node. */
export async function readBrokerReports(database: Database): Promise<readonly BrokerReportRow[]> {
  return database.query<BrokerReportRow>(
    {
      name: 'read_broker_reports',
      text: `
        select node, report, extract(epoch from reported_at)::float8 * 1000 as "reportedAtMs"
        from holdfast_internal.live_broker_reports() order by node`,
    },
    [],
  )
}

export interface BrokerQueueView extends BrokerQueueSeen {
  readonly worker: string | null
  readonly ttlMs: number | null
  readonly state: 'active' | 'draining' | 'retired'
  readonly seenAt: Date | null
}

/** With those first that have a problem. Those of a fleet. */
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

export interface BrokerCounts {
  /** Dispatched and not started; of 10,000 messages at most. */
  readonly unstarted: number
  readonly oldestUnstartedAt: Date | null
  /** Counted to 10,000. */
  readonly rejects: number
  readonly workers: number
  readonly queues: number
  /** Live nodes that say nothing of a broker. */
  readonly nodesWithout: readonly string[]
}

/** Indexes: run_claims_dispatched, broker_rejects_pkey; the others are a fleet's rows. */
export async function readBrokerCounts(database: Database): Promise<BrokerCounts> {
  const [row] = await database.query<BrokerCounts>(
    {
      name: 'read_broker_counts',
      text: `
        select (select coalesce(sum(holdfast_internal.claim_size(found.run_ids, found.bundled)), 0)::integer
                from (select * from holdfast_internal.run_claims where worker = 0 limit 10000) as found) as unstarted,
               (select claimed_at from holdfast_internal.run_claims where worker = 0 order by id limit 1) as "oldestUnstartedAt",
               (select count(*)::integer from (select from holdfast_internal.broker_rejects limit 10000) as found) as rejects,
               (select count(*)::integer from holdfast_internal.workers where via = 'broker') as workers,
               (select count(*)::integer from holdfast_internal.broker_queues) as queues,
               array(
                 select alive.name from holdfast_internal.nodes as alive
                 where alive.beat_at > clock_timestamp() - interval '10 seconds' and not alive.is_stopping
                   and alive.started_at < clock_timestamp() - interval '5 seconds'
                   and not exists (select from holdfast_internal.broker_reports as said where said.incarnation = alive.incarnation)
                 order by alive.name limit 100
               ) as "nodesWithout"`,
    },
    [],
  )
  if (row === undefined) throw new Error('read_broker_counts returned no row')
  return row
}

/** If it is still retired; returns whether it was. By the primary key. */
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

export async function insertBrokerReject(
  database: Database,
  reject: {
    readonly queue: string
    readonly error: string
    readonly fields: object
    readonly body: Buffer
  },
): Promise<void> {
  await database.query(
    {
      name: 'insert_broker_reject',
      text: 'insert into holdfast_internal.broker_rejects (queue, error, fields, body) values ($1, $2, $3::json, $4)',
    },
    [reject.queue, reject.error, JSON.stringify(reject.fields), reject.body],
  )
}
