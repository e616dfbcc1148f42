import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { formatCount } from '../../parts/numbers.ts'
import { Time } from '../../parts/time.tsx'
import type { BrokerStatus } from './broker-page.tsx'

const maxCounted = 10_000

/** What an operator asks first: is it connected, who works, what waits? */
export function BrokerFigures({ status }: { readonly status: BrokerStatus }) {
  const { nodes, workers, queues, unstarted, oldestUnstartedAt, rejects } = status
  const connected = nodes.filter(({ state }) => state === 'connected').length
  const servers = [...new Set(nodes.flatMap(({ server }) => server ?? []))]
  const waiting = queues.find(({ kind }) => kind === 'dead_letters')?.messages ?? null
  return (
    <section className="card stats" aria-label="Broker mode">
      <Figure
        name="Connected nodes"
        value={`${formatCount(connected)} of ${formatCount(nodes.length)}`}
        more={servers.join(', ')}
      />
      <Link to="/workers">
        <div className="name">Workers</div>
        <div className="value">{formatCount(workers)}</div>
        <div className="hint">over the broker</div>
      </Link>
      <Figure
        name="Not started"
        value={counted(unstarted)}
        more={
          oldestUnstartedAt === null ? (
            'dispatched runs'
          ) : (
            <>
              the oldest for <Time at={oldestUnstartedAt} as="ago" />
            </>
          )
        }
      />
      <Figure
        name="Dead-letter queue"
        value={waiting === null ? '–' : formatCount(waiting)}
        more="messages that wait for a node"
      />
      <Figure name="Unreadable" value={counted(rejects)} more="messages, kept for 30 days" />
    </section>
  )
}

function Figure({
  name,
  value,
  more,
}: {
  readonly name: string
  readonly value: string
  readonly more: ReactNode
}) {
  return (
    <div>
      <div className="name">{name}</div>
      <div className="value">{value}</div>
      <div className="hint">{more}</div>
    </div>
  )
}

function counted(count: number): string {
  return formatCount(count, maxCounted)
}
