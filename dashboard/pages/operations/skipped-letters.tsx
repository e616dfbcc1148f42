import { Link } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { type ItemOf, useList } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'

type Skipped = ItemOf<'operations.skipped'>

const whys: Readonly<Record<Skipped['why'], string>> = {
  resolved: 'It was resolved meanwhile',
  discarded: 'It was discarded meanwhile',
  erased: 'Its message was erased',
  redriven: 'It was redriven meanwhile',
  failed_again: 'It was redriven meanwhile, and failed again',
  destination_deleted: 'Its endpoint or job was deleted',
}

const columns: readonly Column<Skipped>[] = [
  {
    id: 'letter',
    header: 'Dead letter',
    phone: 'title',
    cell: ({ id }) => (
      <Link to="/dead-letters/$id" params={{ id }} className="mono">
        {id}
      </Link>
    ),
  },
  {
    id: 'state',
    header: 'State',
    phone: 'aside',
    cell: ({ state }) => <State kind="letter" value={state} />,
  },
  {
    id: 'to',
    header: 'For',
    cell: ({ endpoint, queue }) => endpoint ?? (queue === null ? '–' : `queue ${queue}`),
  },
  {
    id: 'why',
    header: 'Why it was skipped',
    phone: 'detail',
    isPlain: true,
    cell: ({ why, by }) => (
      <>
        {whys[why]}
        {by !== null && why !== 'destination_deleted' && (
          <>
            {' by '}
            <bdi>{by}</bdi>
          </>
        )}
      </>
    ),
  },
  {
    id: 'at',
    header: 'When',
    isNumber: true,
    phone: 'detail',
    cell: ({ at }) => (at === null ? '–' : <Time at={at} />),
  },
]

/** Which dead letters did it leave as they were, and why? */
export function SkippedLetters({ operation }: { readonly operation: Answer<'operations.get'> }) {
  const isRunning = operation.state === 'running'
  const list = useList(
    'operations.skipped',
    { params: { id: operation.id }, query: { limit: 100 } },
    { pollMs: isRunning ? 2000 : 30_000 },
  )
  if (list.error !== null) return <ProblemNote problem={list.error} />
  // A filter that matches many letters is looked through page by page.
  if (list.rows.length === 0 && (operation.skipped === 0 || !list.hasMore)) return null
  return (
    <section className="card">
      <header>
        <h2>Skipped</h2>
        <span className="hint">dead letters that had changed since its preview</span>
      </header>
      <SimpleTable label="Skipped dead letters" rows={list.rows} columns={columns} rowId={({ id }) => id} />
      {list.hasMore && (
        <footer>
          <button type="button" className="button ghost" onClick={list.loadMore}>
            Load more
          </button>
        </footer>
      )}
    </section>
  )
}
