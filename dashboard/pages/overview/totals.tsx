import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Answer } from '../../api/call.ts'
import { countOf, formatCount, formatSpan } from '../../parts/numbers.ts'

type Overview = Answer<'overview.get'>

/** The numbers in a line; each leads to what it counts. */
export function Totals({ overview }: { readonly overview: Overview }) {
  const { totals, endpoints, nodes } = overview
  const most = endpoints.toSorted((left, right) => right.pending - left.pending)[0]
  const oldest = endpoints.toSorted((left, right) => right.oldestDueMs - left.oldestDueMs)[0]
  const active = endpoints.filter(({ state, circuit }) => state === 'active' && circuit === 'closed').length
  return (
    <section className="card stats" aria-label="Now">
      <Stat
        name="Waiting"
        path="/deliveries"
        search={{ state: 'pending' }}
        value={formatCount(totals.pending)}
        hint={
          most !== undefined && most.pending > 0
            ? `${formatCount(most.pending)} of them for ${most.name}`
            : ''
        }
      />
      <Stat name="In flight" value={formatCount(totals.inFlight)} hint="requests out now" />
      <Stat
        name="Oldest due"
        value={oldest === undefined || oldest.oldestDueMs < 1000 ? '–' : formatSpan(oldest.oldestDueMs)}
        hint={oldest !== undefined && oldest.oldestDueMs >= 1000 ? oldest.name : 'nothing is late'}
      />
      <Stat
        name="Open dead letters"
        value={formatCount(totals.deadLetters)}
        hint="until somebody settles them"
      />
      <Stat
        name="Endpoints"
        path="/endpoints"
        value={formatCount(endpoints.length, 200)}
        hint={`${formatCount(active)} deliver`}
      />
      <Stat
        name="Nodes"
        value={formatCount(nodes.length)}
        hint={countOf(overview.firingAlerts, 'alert') + ' firing'}
      />
    </section>
  )
}

function Stat({
  name,
  value,
  hint,
  path,
  search = {},
}: {
  readonly name: string
  readonly value: ReactNode
  readonly hint: string
  readonly path?: string
  readonly search?: Readonly<Record<string, string>>
}) {
  const inside = (
    <>
      <div className="name">{name}</div>
      <div className="value">{value}</div>
      <div className="hint cut">{hint}</div>
    </>
  )
  return path === undefined ? (
    <div>{inside}</div>
  ) : (
    <Link to={path} search={search}>
      {inside}
    </Link>
  )
}
