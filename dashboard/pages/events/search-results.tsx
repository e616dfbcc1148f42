import { useNavigate } from '@tanstack/react-router'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Note } from '../../parts/note.tsx'
import { countOf, formatCount } from '../../parts/numbers.ts'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { Time } from '../../parts/time.tsx'
import { eventColumns } from './event-columns.tsx'
import { type PayloadSearch, usePayloadSearch } from './use-payload-search.ts'

/** What was found so far in payloads, and how much has been looked at. */
export function SearchResults({ query }: { readonly query: Parameters<typeof usePayloadSearch>[0] }) {
  const search = usePayloadSearch(query)
  const navigate = useNavigate()
  const { rows, error, isRunning, isOver } = search
  return (
    <>
      {error !== null && <ProblemNote problem={error} onRetry={search.goOn} />}
      <Progress search={search} />
      {(rows.length > 0 || isOver) && (
        <DataTable
          label="Events found"
          columns={eventColumns}
          rowId={({ id }) => id}
          list={{
            rows,
            isFirstLoad: false,
            error: null,
            hasMore: false,
            isLoadingMore: isRunning,
            loadMore: search.goOn,
            refetch: search.goOn,
            updatedAtMs: 0,
          }}
          onOpen={({ id }) => void navigate({ to: '/events/$id', params: { id } })}
          empty={
            <Empty icon="search" title="No event has this in its payload">
              <p>Choose a longer time range to look further back.</p>
            </Empty>
          }
        />
      )}
    </>
  )
}

function Progress({ search }: { readonly search: PayloadSearch }) {
  const { rows, scanned, total, scannedTo, isRunning, isOver, error, goOn } = search
  // Those of the running minute aren't counted yet.
  const of = total === null ? '' : ` of about ${formatCount(Math.max(total, scanned))}`
  return (
    <Note
      tone="neutral"
      icon="search"
      role="status"
      lead={`${countOf(rows.length, 'event')} found. Scanned ${formatCount(scanned)}${of}.`}
      actions={
        !isOver &&
        error === null && (
          <button type="button" className="button" disabled={isRunning} onClick={goOn}>
            {isRunning ? 'Looking…' : 'Go on'}
          </button>
        )
      }
    >
      {isOver && 'The whole time range has been looked at.'}
      {!isOver && scannedTo !== null && (
        <>
          Everything since <Time at={scannedTo} /> has been looked at.
        </>
      )}
    </Note>
  )
}
