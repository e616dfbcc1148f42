import { defaultTopology, exchangesOf, knownQueue, type QueueKind } from '../broker/topology.ts'
import { readBrokerQueueViews } from '../storage/broker-queues.ts'
import {
  type BrokerReport,
  type BrokerReportRow,
  readBrokerCounts,
  readBrokerReports,
} from '../storage/broker-reports.ts'
import type { Database } from '../storage/database.ts'
import { type BrokerProblem, findBrokerProblems } from './broker-problems.ts'
import { onDatabase } from './page.ts'

export interface BrokerNodeState {
  readonly node: string
  readonly state: BrokerReport['state']
  /** Since when the node is connected, blocked or disconnected. */
  readonly since: Date
  /** Why the node is blocked or disconnected. */
  readonly error: string | null
  /** Why the last connection was lost or refused; kept after a reconnect. */
  readonly lastFailure: { readonly error: string; readonly at: Date } | null
  readonly server: string | null
  /** Runs that the node has published since it started. */
  readonly dispatched: number
  /** Messages that the node has received and not acknowledged yet. */
  readonly unacknowledged: number
  readonly reportedAt: Date
}

export interface BrokerQueue {
  readonly name: string
  readonly kind: QueueKind
  /** The name of the workers that consume the queue; null if it isn't a worker's queue. */
  readonly worker: string | null
  readonly ttlMs: number | null
  /** `draining`: of a former TTL, consumed until it is empty. `retired`: its worker is gone; a node deletes the queue when it is empty. */
  readonly state: 'active' | 'draining' | 'retired'
  /** False: the queue exists with other arguments. */
  readonly isAsDeclared: boolean
  readonly arguments: Readonly<Record<string, string | number | boolean>>
  /** Ready messages; null if no node has checked yet, or the queue doesn't exist. */
  readonly messages: number | null
  readonly consumers: number | null
  readonly seenAt: Date | null
}

/** Messages of the dead-letter queue that the live nodes have handled since they started. */
export interface BrokerDeadLetters {
  readonly handled: number
  readonly failed: number
  /** Of `failed`: the run's TTL had passed. */
  readonly failedExpired: number
  /** Of `failed`: consumers returned the message too often. */
  readonly failedDeliveryLimit: number
  /** Of `failed`: a consumer rejected the message. */
  readonly failedRejected: number
  /** The runs returned to their queues. */
  readonly returned: number
  /** Nothing had to be done: the runs had started or ended, or were dispatched again. */
  readonly ended: number
  readonly unreadable: number
  /** From the dead-lettering to the commit, of the last 200 messages of each node; the value of the slowest node. */
  readonly latencyP50Ms: number | null
  readonly latencyP95Ms: number | null
}

export interface BrokerStatus {
  /** Whether a live node has a broker configured. */
  readonly isConfigured: boolean
  readonly prefix: string | null
  readonly nodes: readonly BrokerNodeState[]
  /** Live workers that get their runs over the broker. */
  readonly workers: number
  readonly exchanges: readonly { readonly name: string; readonly type: string }[]
  /** The first 500; queues that need attention come first. */
  readonly queues: readonly BrokerQueue[]
  readonly queueCount: number
  /** Differences from the expected state, with their fixes. */
  readonly problems: readonly BrokerProblem[]
  /** Runs that were dispatched and have not started, counted up to 10,000. */
  readonly unstarted: number
  readonly oldestUnstartedAt: Date | null
  readonly deadLetters: BrokerDeadLetters
  /** Messages that no node could read, counted up to 10,000. */
  readonly rejects: number
}

const maxQueues = 500

/** Broker mode as the nodes see it: connections, topology, pending messages. */
export class Broker {
  readonly #options: { readonly database: () => Database }

  constructor(options: { readonly database: () => Database }) {
    this.#options = options
  }

  async status(): Promise<BrokerStatus> {
    return onDatabase(this.#options.database(), readBrokerStatus)
  }
}

export async function readBrokerStatus(database: Database): Promise<BrokerStatus> {
  const [reports, views, counts] = await Promise.all([
    readBrokerReports(database),
    readBrokerQueueViews(database, maxQueues),
    readBrokerCounts(database),
  ])
  const [first] = reports
  const options = { ...defaultTopology, ...topologyOf(first?.report) }
  const queues = views.flatMap(({ problem, ...view }): BrokerQueue[] => {
    const known = knownQueue(options, view)
    if (known === null) return []
    return [
      { ...view, kind: known.kind, isAsDeclared: problem === null, arguments: known.declared.arguments },
    ]
  })
  const isConfigured = reports.length > 0
  return {
    isConfigured,
    prefix: first?.report.prefix ?? null,
    nodes: reports.map(nodeState),
    workers: counts.workers,
    exchanges: isConfigured ? exchangesOf(options) : [],
    queues: isConfigured ? queues : [],
    queueCount: isConfigured ? counts.queues : 0,
    problems: findBrokerProblems(reports, views, counts),
    unstarted: counts.unstarted,
    oldestUnstartedAt: counts.oldestUnstartedAt,
    deadLetters: sumDeadLetters(reports.map(({ report }) => report)),
    rejects: counts.rejects,
  }
}

function topologyOf(report: Partial<BrokerReport> | undefined) {
  const { prefix, deadLetterTtlMs, deliveryLimit } = report ?? {}
  return {
    ...(prefix !== undefined && { prefix }),
    ...(deadLetterTtlMs !== undefined && { deadLetterTtlMs }),
    ...(deliveryLimit !== undefined && { deliveryLimit }),
  }
}

function nodeState({ node, report, reportedAtMs }: BrokerReportRow): BrokerNodeState {
  const { lastFailure, server } = report
  return {
    node,
    state: report.state ?? 'disconnected',
    since: new Date(reportedAtMs - (report.sinceMs ?? 0)),
    error: report.error ?? null,
    lastFailure:
      lastFailure == null
        ? null
        : { error: lastFailure.error, at: new Date(reportedAtMs - lastFailure.agoMs) },
    server: server == null ? null : `${server.product} ${server.version}`,
    dispatched: report.dispatched ?? 0,
    unacknowledged: report.waiting ?? 0,
    reportedAt: new Date(reportedAtMs),
  }
}

type Counted =
  | 'failed'
  | 'failedExpired'
  | 'failedDeliveryLimit'
  | 'failedRejected'
  | 'returned'
  | 'ended'
  | 'unreadable'

function sumDeadLetters(reports: readonly Partial<BrokerReport>[]): BrokerDeadLetters {
  const sum = (name: Counted) => reports.reduce((total, report) => total + (report[name] ?? 0), 0)
  const worst = (name: 'latencyP50Ms' | 'latencyP95Ms') =>
    reports.reduce<number | null>(
      (most, { [name]: ms }) => (ms == null ? most : Math.max(most ?? 0, ms)),
      null,
    )
  const [failed, returned, ended, unreadable] = [
    sum('failed'),
    sum('returned'),
    sum('ended'),
    sum('unreadable'),
  ]
  return {
    handled: failed + returned + ended + unreadable,
    failed,
    failedExpired: sum('failedExpired'),
    failedDeliveryLimit: sum('failedDeliveryLimit'),
    failedRejected: sum('failedRejected'),
    returned,
    ended,
    unreadable,
    latencyP50Ms: worst('latencyP50Ms'),
    latencyP95Ms: worst('latencyP95Ms'),
  }
}
