import type { Column } from '../../parts/column.ts'
import { countOf, formatCount, formatSpan } from '../../parts/numbers.ts'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import type { BrokerStatus } from './broker-page.tsx'

type Queue = BrokerStatus['queues'][number]

const kinds: Readonly<Record<Queue['kind'], string>> = {
  results: 'starts and results of workers',
  beats: 'heartbeats and progress',
  dead_letters: 'expired, rejected, returned too often',
  shared: 'runs for all workers of a queue',
  worker: 'runs for the workers of one name',
}

const columns: readonly Column<Queue>[] = [
  {
    id: 'name',
    header: 'Queue',
    phone: 'title',
    cell: ({ name, kind }) => (
      <span className="two">
        <code className="text">{name}</code>
        <span className="hint">{kinds[kind]}</span>
      </span>
    ),
  },
  {
    id: 'state',
    header: 'State',
    phone: 'aside',
    cell: ({ state, isAsDeclared }) => <State kind="brokerQueue" value={isAsDeclared ? state : 'differs'} />,
  },
  {
    id: 'arguments',
    header: 'Arguments',
    cell: ({ arguments: given }) => (
      <details>
        <summary>{countOf(Object.keys(given).length, 'argument')}</summary>
        {Object.entries(given).map(([name, value]) => (
          <div key={name}>
            <code className="text">
              {name}={String(value)}
            </code>
          </div>
        ))}
      </details>
    ),
  },
  {
    id: 'messages',
    header: 'Ready',
    isNumber: true,
    phone: 'detail',
    cell: ({ messages }) => (messages === null ? '–' : formatCount(messages)),
  },
  {
    id: 'consumers',
    header: 'Consumers',
    isNumber: true,
    phone: 'detail',
    cell: ({ consumers }) => (consumers === null ? '–' : formatCount(consumers)),
  },
  {
    id: 'ttl',
    header: 'TTL',
    isNumber: true,
    phone: 'detail',
    cell: ({ arguments: { 'x-message-ttl': ttlMs } }) =>
      typeof ttlMs === 'number' ? formatSpan(ttlMs) : '–',
  },
  {
    id: 'seen',
    header: 'Seen',
    isNumber: true,
    cell: ({ seenAt }) => (seenAt === null ? '–' : <Time at={seenAt} as="ago" />),
  },
]

/** What is declared on the broker, and what waits there? */
export function BrokerTopology({ status }: { readonly status: BrokerStatus }) {
  const { exchanges, queues, queueCount, prefix } = status
  return (
    <section className="card">
      <header>
        <h2>Topology</h2>
        <span className="hint">
          {countOf(queueCount, 'queue')}
          {queueCount > queues.length && `, the first ${formatCount(queues.length)} of them here`}; names
          begin with <code>{prefix}</code>
        </span>
      </header>
      <SimpleTable label="Queues" rows={queues} columns={columns} rowId={({ name }) => name} />
      <p className="body hint">
        Exchanges:{' '}
        {exchanges.map(({ name, type }, place) => (
          <span key={name}>
            {place > 0 && ', '}
            <code className="text">{name}</code> ({type})
          </span>
        ))}
      </p>
    </section>
  )
}
