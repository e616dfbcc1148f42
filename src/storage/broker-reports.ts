import type { Database } from './database.ts'

/** A node's report of its broker connection, in `broker_reports`; times are ages, by the node's monotonic clock. */
export interface BrokerReport {
  readonly state: 'connected' | 'blocked' | 'disconnected'
  /** Why the node is not connected, or is blocked. */
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
  /** Ready messages in the whole queue. */
  readonly deadLetterDepth: number
  /** Messages that this node has received and not settled. */
  readonly deadLettersHeld: number
  readonly resultsDepth: number
  readonly dispatched: number
  /** Messages of the dead-letter queue since the node started, by outcome. */
  readonly failed: number
  readonly returned: number
  readonly ended: number
  readonly unreadable: number
  /** Included in `failed`. */
  readonly failedExpired: number
  readonly failedDeliveryLimit: number
  readonly failedRejected: number
  /** Of the latest messages. */
  readonly latencyP50Ms: number | null
  readonly latencyP95Ms: number | null
  /** Messages of any queue that this node could not read. */
  readonly rejected: number
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

export interface BrokerReportRow {
  readonly node: string
  readonly report: Partial<BrokerReport>
  readonly reportedAtMs: number
}

/** One row per node at most. */
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

export interface BrokerCounts {
  /** Runs dispatched and not started, of 10,000 messages at most. */
  readonly unstarted: number
  readonly oldestUnstartedAt: Date | null
  /** Counted to 10,000. */
  readonly rejects: number
  readonly workers: number
  readonly queues: number
  /** Live nodes that don't report a broker. */
  readonly nodesWithout: readonly string[]
}

/** Indexes: run_claims_dispatched, broker_rejects_pkey; the other tables have a row per node or worker. */
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
