import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { Answer } from '../../api/call.ts'
import { serverNowMs } from '../../live/server-clock.ts'
import { countOf, formatCount, formatPercent, formatRate, formatSpan } from '../../parts/numbers.ts'
import { acceptedPerSecond, lastOf, perSecond } from './rates.ts'

type Overview = Answer<'overview.get'>

/** The numbers in a line; each leads to what it counts. */
export function Totals({
  overview,
  statistics,
}: {
  readonly overview: Overview
  readonly statistics: Answer<'statistics.site'> | undefined
}) {
  const { totals, endpoints } = overview
  const most = endpoints.toSorted((left, right) => right.pending - left.pending)[0]
  const oldest = endpoints.toSorted((left, right) => right.oldestDueMs - left.oldestDueMs)[0]
  const nowMs = serverNowMs()
  const accepted = statistics === undefined ? null : lastOf(acceptedPerSecond(statistics, nowMs))
  const delivered =
    statistics === undefined ? null : lastOf(perSecond(statistics, nowMs, (step) => step.delivered))
  const { attempts, share } = failedLately(statistics)
  return (
    <section className="card stats" aria-label="Now">
      <Stat
        name="Accepted"
        path="/events"
        value={`${formatRate(accepted)} /s`}
        hint={
          statistics === undefined ? '' : `${countOf(statistics.accepted, 'event')} in ${statistics.window}`
        }
      />
      <Stat
        name="Delivered"
        path="/deliveries"
        search={{ state: 'succeeded' }}
        value={`${formatRate(delivered)} /s`}
        hint={statistics === undefined ? '' : `${formatCount(statistics.delivered)} in ${statistics.window}`}
      />
      <Stat
        name="Failed attempts"
        value={share === null ? '–' : formatPercent(share)}
        hint={share === null ? 'no attempt lately' : `of the last ${formatCount(attempts)}`}
      />
      <Stat
        name="Waiting"
        path="/deliveries"
        search={{ state: 'pending' }}
        value={formatCount(totals.pending)}
        hint={
          most !== undefined && most.pending > 0
            ? `${formatCount(most.pending)} of them for ${most.name}`
            : `${formatCount(totals.inFlight)} in flight`
        }
      />
      <Stat
        name="Oldest due"
        value={oldest === undefined || oldest.oldestDueMs < 1000 ? '–' : formatSpan(oldest.oldestDueMs)}
        hint={oldest !== undefined && oldest.oldestDueMs >= 1000 ? oldest.name : 'nothing is late'}
      />
      <Stat
        name="Open dead letters"
        path="/dead-letters"
        value={formatCount(totals.deadLetters)}
        hint="not settled yet"
      />
    </section>
  )
}

/** The share of attempts that failed in the last two steps, so that one that has just begun isn't all that is looked at. */
function failedLately(statistics: Answer<'statistics.site'> | undefined): {
  readonly attempts: number
  readonly share: number | null
} {
  const last = statistics?.series.slice(-2) ?? []
  const failed = last.reduce((sum, step) => sum + step.failed, 0)
  const attempts = last.reduce((sum, step) => sum + step.delivered, failed)
  return { attempts, share: attempts === 0 ? null : failed / attempts }
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
