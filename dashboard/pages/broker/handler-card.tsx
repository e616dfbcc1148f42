import { Link } from '@tanstack/react-router'
import { formatCount, formatDuration } from '../../parts/numbers.ts'
import type { BrokerStatus } from './broker-page.tsx'

/** What became of messages that expired, were rejected or returned too often. */
export function HandlerCard({ counts }: { readonly counts: BrokerStatus['deadLetters'] }) {
  const figures: readonly (readonly [string, number, string])[] = [
    ['Expired', counts.failedExpired, 'failed: no worker took them in time'],
    ['Delivery limit', counts.failedDeliveryLimit, 'failed: returned too often'],
    ['Rejected', counts.failedRejected, 'failed: a consumer refused them'],
    ['Returned', counts.returned, 'back in their queues'],
    ['Ended already', counts.ended, 'nothing was to be done'],
    ['Unreadable', counts.unreadable, 'kept as they were'],
  ]
  const { handled, latencyP50Ms, latencyP95Ms } = counts
  return (
    <section className="card">
      <header>
        <h2>Dead-letter handler</h2>
        <span className="hint">
          {formatCount(handled)} handled since the nodes started
          {latencyP50Ms !== null &&
            latencyP95Ms !== null &&
            `, within ${formatDuration(latencyP50Ms)} (p50) and ${formatDuration(latencyP95Ms)} (p95)`}
        </span>
        <Link to="/dead-letters" search={{ view: 'letters' }} className="button ghost">
          Dead letters
        </Link>
      </header>
      <div className="stats">
        {figures.map(([name, count, meaning]) => (
          <div key={name}>
            <div className="name">{name}</div>
            <div className="value">{formatCount(count)}</div>
            <div className="hint">{meaning}</div>
          </div>
        ))}
      </div>
    </section>
  )
}
