import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { type ItemOf, useList } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import type { RunSearch } from './run-search.ts'

type Row = ItemOf<'runs.list'>

const columns: readonly Column<Row>[] = [
  {
    id: 'id',
    header: 'Run',
    phone: 'title',
    cell: ({ id }) => (
      <Link to="/runs/$id" params={{ id }} className="mono">
        {id}
      </Link>
    ),
  },
  {
    id: 'state',
    header: 'State',
    phone: 'aside',
    cell: ({ state, isUnhandled }) => (
      <>
        <State kind="run" value={state} />
        {isUnhandled && (
          <span className="tag ml-2" title="No live worker has a handler for its job">
            no worker
          </span>
        )}
      </>
    ),
  },
  {
    id: 'job',
    header: 'Job',
    phone: 'detail',
    cell: ({ job }) =>
      job === null ? (
        '–'
      ) : (
        <Link to="/jobs/$name" params={{ name: job }}>
          {job}
        </Link>
      ),
  },
  {
    id: 'worker',
    header: 'Worker',
    cell: ({ worker }) =>
      worker === null ? (
        '–'
      ) : (
        <Link to="/runs" search={{ worker }}>
          {worker}
        </Link>
      ),
  },
  { id: 'attempt', header: 'Attempts', isNumber: true, cell: ({ attempt }) => formatCount(attempt) },
  {
    id: 'created',
    header: 'Enqueued',
    isNumber: true,
    phone: 'detail',
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
  {
    id: 'ended',
    header: 'Ended or due',
    isNumber: true,
    cell: ({ dueAt, endedAt }) =>
      endedAt === null && dueAt !== null ? <Time at={dueAt} as="in" /> : <Time at={endedAt} />,
  },
  {
    id: 'error',
    header: 'Error',
    cell: ({ error }) => <span className="text line-clamp-2">{error ?? ''}</span>,
  },
]

/** Of one job, every row would say the same. */
const columnsOfJob = columns.filter(({ id }) => id !== 'job')

export function RunsTable({
  query,
  label,
  empty,
}: {
  readonly query: RunSearch
  readonly label: string
  readonly empty?: ReactNode
}) {
  const list = useList('runs.list', { query }, { pollMs: 3000 })
  const navigate = useNavigate()
  const isNarrowed = Object.entries(query).some(([name, value]) => name !== 'job' && value !== undefined)
  return (
    <div className="stack">
      <DataTable
        label={label}
        list={list}
        columns={query.job === undefined ? columns : columnsOfJob}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/runs/$id', params: { id } })}
        empty={empty ?? (isNarrowed ? <Empty icon="play" title="No run matches" /> : <NoRunYet />)}
      />
    </div>
  )
}

function NoRunYet() {
  return (
    <Empty icon="play" title="No run yet">
      <p>A run is enqueued by your application, by a schedule, or by Trigger on the page of a job.</p>
    </Empty>
  )
}
