import type { Command } from 'commander'
import type { BrokerStatus } from '../../sdk/broker.ts'
import { withApi } from '../connection/with-api.ts'
import { type WatchFlag, watch, watchOption } from '../interact/watch.ts'
import { docsPage } from '../output/docs-page.ts'
import { formatFields } from '../output/field-list.ts'
import type { Output } from '../output/output.ts'
import { printable } from '../output/table.ts'
import { formatDuration } from '../output/units.ts'

const notConfigured = `No live node uses a broker. Set HOLDFAST_AMQP_URL on every node to let workers get their runs over RabbitMQ: see ${docsPage('broker.md')}`

const stateColours = { connected: 'green', blocked: 'yellow', disconnected: 'red' } as const
const maxCounted = 10_000

export function registerBroker(program: Command): void {
  program
    .command('broker')
    .description('broker mode: workers over RabbitMQ')
    .command('status')
    .description('show connections, queues, what waits, and what differs from what is expected')
    .option(...watchOption)
    .action((flags: { watch?: WatchFlag }, command: Command) =>
      withApi(command, ({ client, output }) =>
        watch(flags.watch, async () => {
          const status = await client.broker.status()
          if (output.isJson) output.line(JSON.stringify(status))
          else show(output, status)
        }),
      ),
    )
}

function show(output: Output, status: BrokerStatus): void {
  if (status.isConfigured) {
    showNodes(output, status)
    output.line('')
    showQueues(output, status)
    output.line('')
    output.line(formatFields(output, figures(output, status)))
  } else output.message(notConfigured)
  for (const { message, fix } of status.problems) {
    output.line('')
    output.line(`${output.paintData('yellow', 'differs')}  ${printable(message)}`)
    output.line(`         ${output.paintData('dim', printable(fix))}`)
  }
}

function showNodes(output: Output, { nodes }: BrokerStatus): void {
  output.table(
    [
      { title: 'NODE', canShrink: true, value: ({ node }) => printable(node) },
      { title: 'STATE', value: ({ state }) => output.paintData(stateColours[state], state) },
      { title: 'SINCE', value: ({ since }) => output.when(since) },
      { title: 'DISPATCHED', isNumber: true, value: ({ dispatched }) => String(dispatched) },
      { title: 'UNACKED', isNumber: true, value: ({ unacknowledged }) => String(unacknowledged) },
      {
        title: 'LAST FAILURE',
        canShrink: true,
        value: ({ lastFailure }) =>
          lastFailure === null ? '' : `${output.when(lastFailure.at)}: ${printable(lastFailure.error)}`,
      },
    ],
    nodes,
  )
}

function showQueues(output: Output, { queues, queueCount }: BrokerStatus): void {
  output.table(
    [
      { title: 'QUEUE', canShrink: true, value: ({ name }) => printable(name) },
      { title: 'KIND', value: ({ kind }) => kind.replace('_', ' ') },
      {
        title: 'STATE',
        value: ({ state, isAsDeclared }) => (isAsDeclared ? state : output.paintData('red', 'differs')),
      },
      { title: 'TTL', value: ({ ttlMs }) => (ttlMs === null ? '' : formatDuration(ttlMs)) },
      {
        title: 'READY',
        isNumber: true,
        value: ({ messages }) => (messages === null ? '–' : String(messages)),
      },
      {
        title: 'CONSUMERS',
        isNumber: true,
        value: ({ consumers }) => (consumers === null ? '–' : String(consumers)),
      },
      { title: 'SEEN', isExtra: true, value: ({ seenAt }) => output.when(seenAt) },
    ],
    queues,
  )
  if (queueCount > queues.length) output.message(`The first ${queues.length} of ${queueCount} queues.`)
}

function figures(output: Output, status: BrokerStatus): readonly (readonly [string, string])[] {
  const { prefix, nodes, workers, unstarted, oldestUnstartedAt, deadLetters, rejects } = status
  const servers = [...new Set(nodes.flatMap(({ server }) => server ?? []))]
  const oldest = oldestUnstartedAt === null ? '' : `, the oldest dispatched ${output.when(oldestUnstartedAt)}`
  const { latencyP50Ms, latencyP95Ms } = deadLetters
  return [
    ['broker', printable(servers.join(', '))],
    ['prefix', prefix ?? ''],
    ['workers', String(workers)],
    ['dispatched, not started', `${capped(unstarted)}${oldest}`],
    ['dead letters handled', handledText(deadLetters)],
    [
      'handled within',
      latencyP50Ms === null || latencyP95Ms === null
        ? ''
        : `${formatDuration(latencyP50Ms)} (p50), ${formatDuration(latencyP95Ms)} (p95)`,
    ],
    ['unreadable messages', rejects === 0 ? '0' : `${capped(rejects)}, kept in broker_rejects for 30 days`],
  ]
}

function handledText(counts: BrokerStatus['deadLetters']): string {
  const parts: readonly (readonly [number, string])[] = [
    [counts.failedExpired, 'failed by TTL'],
    [counts.failedDeliveryLimit, 'by the delivery limit'],
    [counts.failedRejected, 'rejected'],
    [counts.returned, 'returned'],
    [counts.ended, 'ended already'],
    [counts.unreadable, 'unreadable'],
  ]
  const named = parts.flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]))
  return [String(counts.handled), ...named].join(', ').replace(', ', ': ')
}

function capped(count: number): string {
  return count >= maxCounted ? `${maxCounted}+` : String(count)
}
