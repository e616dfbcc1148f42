import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useDeferredValue } from 'react'
import type { ApiProblem } from '../../api/api-problem.ts'
import { type Answer, call } from '../../api/call.ts'
import { retryBusy } from '../../api/retry-busy.ts'
import { Note } from '../../parts/note.tsx'
import { countOf, formatCount } from '../../parts/numbers.ts'
import { Time } from '../../parts/time.tsx'
import { bodyOf, type RouteDraft } from './route-draft.ts'
import { useSettled } from './use-settled.ts'

type Matches = Answer<'routes.matches'>

/** How many of the last 1,000 events the draft means, and which of them it can't render. */
export function MatchCount({
  name,
  draft,
}: {
  readonly name: string | undefined
  readonly draft: RouteDraft
}) {
  const settled = useSettled(useDeferredValue(draft))
  const body = bodyOf(settled)
  const matches = useQuery<Matches, ApiProblem>({
    queryKey: ['route-matches', name, body],
    enabled: body !== null,
    queryFn: ({ signal }) =>
      call(
        'routes.matches',
        { body: { route: { ...body, ...(name !== undefined && { name }) } as never } },
        signal,
      ),
    placeholderData: (before) => before,
    retry: retryBusy,
    refetchOnWindowFocus: false,
  })
  if (matches.error !== null) {
    return (
      <p className="problem text" role="status">
        {matches.error.message}
      </p>
    )
  }
  if (matches.data === undefined) return null
  return <Counts matches={matches.data} />
}

function Counts({ matches }: { readonly matches: Matches }) {
  const { scanned, since, matched, otherType, otherTenant, filteredOut, notChecked, rendering } = matches
  const others = [
    otherType > 0 && `Other type ${formatCount(otherType)}`,
    otherTenant > 0 && `other tenant ${formatCount(otherTenant)}`,
    filteredOut > 0 && `filter says no ${formatCount(filteredOut)}`,
    notChecked > 0 && `too large to be checked ${formatCount(notChecked)}`,
  ].filter((part) => part !== false)
  if (scanned === 0) return <p className="quiet">No event has been published yet.</p>
  return (
    <div className="grid gap-2">
      <div className="flex justify-between gap-2">
        <b>
          {formatCount(matched)} of the last {countOf(scanned, 'event')} match
        </b>
        <span className="hint">
          since <Time at={since} />
        </span>
      </div>
      <div className="meter" aria-hidden="true">
        <div style={{ width: `${(matched / scanned) * 100}%` }} />
      </div>
      <p className="hint">
        {others.join(' · ')}
        {matches.filteredOutIds.length > 0 && ': '}
        {matches.filteredOutIds.map((id) => (
          <Link key={id} to="/events/$id" params={{ id }} className="mono mr-2">
            {id}
          </Link>
        ))}
      </p>
      {rendering.failures.slice(0, 3).map(({ code, message, count, eventIds }) => (
        <Note
          key={`${code} ${message}`}
          tone="warn"
          lead={`${formatCount(count)} of the ${countOf(rendering.tried, 'event')} that match can't be rendered: ${message}`}
        >
          They would become dead letters:{' '}
          {eventIds.map((id) => (
            <Link key={id} to="/events/$id" params={{ id }} className="mono mr-2">
              {id}
            </Link>
          ))}
        </Note>
      ))}
      {rendering.tried > 0 && rendering.failed === 0 && (
        <p className="hint">All {formatCount(rendering.tried)} that were tried can be rendered.</p>
      )}
    </div>
  )
}
