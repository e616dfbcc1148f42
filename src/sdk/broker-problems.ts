import type { BrokerQueueView } from '../storage/broker-queues.ts'
import type { BrokerCounts, BrokerReport, BrokerReportRow } from '../storage/broker-reports.ts'

/** A difference between the expected and the actual state of the broker. */
export interface BrokerProblem {
  /** The node, queue or exchange with the problem. */
  readonly subject: string
  /** Whether runs wait because of it. */
  readonly isSevere: boolean
  /** One sentence. */
  readonly message: string
  /** What to do. */
  readonly fix: string
}

const fixes: Readonly<Record<string, string>> = {
  access_refused:
    'Check user and password in HOLDFAST_AMQP_URL, and that the user may configure, write and read names that begin with the prefix.',
  vhost_refused:
    'Check the virtual host in HOLDFAST_AMQP_URL: create it on the broker, or give the user permission for it.',
}
const unreachable =
  'Check that the broker is up, and host and port in HOLDFAST_AMQP_URL. Nodes connect again by themselves; runs wait in PostgreSQL.'
/** A node that has just started gets this long to connect. */
const connectingMs = 10_000
/** The first RabbitMQ version with at-least-once dead-lettering. */
const oldestServer = [3, 10] as const

/** Compares the actual with the expected state; the most severe problems first. */
export function findBrokerProblems(
  reports: readonly BrokerReportRow[],
  queues: readonly BrokerQueueView[],
  { nodesWithout, workers }: BrokerCounts,
): readonly BrokerProblem[] {
  if (reports.length === 0) return workers === 0 ? [] : [noNode(workers)]
  const found = [
    ...reports.flatMap(({ node, report }) => connectionProblems(node, report)),
    ...oldServers(reports),
    ...queues.flatMap(({ name, problem }) =>
      problem === null ? [] : [{ subject: name, isSevere: true, ...problem }],
    ),
    ...differentOptions(reports),
    ...nodesWithout.map(
      (node): BrokerProblem => ({
        subject: node,
        isSevere: false,
        message: `The node "${node}" doesn't use the broker, but others do.`,
        fix: 'Start it with the HOLDFAST_AMQP_URL and the HOLDFAST_BROKER_… settings of the other nodes, so that it takes over when they stop.',
      }),
    ),
  ]
  return found.toSorted((one, other) => Number(other.isSevere) - Number(one.isSevere))
}

function noNode(workers: number): BrokerProblem {
  return {
    subject: 'nodes',
    isSevere: true,
    message: `No live node uses the broker, and ${workers === 1 ? 'a worker gets' : `${workers} workers get`} runs over it.`,
    fix: 'Start a node with HOLDFAST_AMQP_URL. Runs wait in PostgreSQL.',
  }
}

function connectionProblems(node: string, report: Partial<BrokerReport>): readonly BrokerProblem[] {
  const { state, error, errorCode, fix, sinceMs = 0 } = report
  if (state === 'blocked') {
    return [
      {
        subject: node,
        isSevere: true,
        message: `The broker accepts no messages from the node "${node}": ${error ?? 'it gives no reason'}.`,
        fix: 'Free memory or disk on the broker (rabbitmqctl status shows its alarms). Nodes go on by themselves; runs wait in PostgreSQL.',
      },
    ]
  }
  if (state !== 'disconnected' || (error == null && sinceMs < connectingMs)) return []
  const why = error == null ? 'the broker does not answer' : withoutFix(error, fix ?? null)
  return [
    {
      subject: node,
      isSevere: true,
      message: `The node "${node}" has no connection to the broker: ${why.replace(/\.$/, '')}.`,
      fix: fix ?? fixes[errorCode ?? ''] ?? unreachable,
    },
  ]
}

function withoutFix(error: string, fix: string | null): string {
  return fix !== null && error.endsWith(fix) ? error.slice(0, -fix.length).trimEnd() : error
}

function oldServers(reports: readonly BrokerReportRow[]): readonly BrokerProblem[] {
  const versions = new Set(reports.flatMap(({ report: { server } }) => server?.version ?? []))
  return [...versions].filter(isTooOld).map((version) => ({
    subject: 'broker',
    isSevere: true,
    message: `RabbitMQ ${version} has no dead-lettering that loses nothing (at-least-once).`,
    fix: 'Upgrade the broker to 3.10 or newer.',
  }))
}

function isTooOld(version: string): boolean {
  const [major = Number.NaN, minor = 0] = version.split('.').map(Number)
  if (Number.isNaN(major)) return false
  return major < oldestServer[0] || (major === oldestServer[0] && minor < oldestServer[1])
}

function differentOptions(reports: readonly BrokerReportRow[]): readonly BrokerProblem[] {
  const settings = {
    prefix: 'HOLDFAST_BROKER_PREFIX',
    deadLetterTtlMs: 'HOLDFAST_BROKER_DEAD_LETTER_TTL_MS',
    deliveryLimit: 'HOLDFAST_BROKER_DELIVERY_LIMIT',
  } as const
  return (Object.keys(settings) as (keyof typeof settings)[]).flatMap((option) => {
    const values = new Set(reports.flatMap(({ report }) => report[option] ?? []))
    if (values.size < 2) return []
    return [
      {
        subject: settings[option],
        isSevere: true,
        message: `Nodes have different values of ${settings[option]}: ${[...values].join(', ')}.`,
        fix: 'Start every node with the same value.',
      },
    ]
  })
}
