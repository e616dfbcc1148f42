import { Link, useNavigate } from '@tanstack/react-router'
import { type ItemOf, useList } from '../../api/use-api.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'

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
  { id: 'state', header: 'State', phone: 'aside', cell: ({ state }) => <State kind="run" value={state} /> },
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
  { id: 'worker', header: 'Worker', cell: ({ worker }) => worker ?? '–' },
  { id: 'attempt', header: 'Attempts', isNumber: true, cell: ({ attempt }) => formatCount(attempt) },
  {
    id: 'due',
    header: 'Due',
    isNumber: true,
    cell: ({ dueAt, endedAt }) => (endedAt === null ? <Time at={dueAt} as="in" /> : ''),
  },
  {
    id: 'created',
    header: 'Enqueued',
    isNumber: true,
    phone: 'detail',
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
  { id: 'ended', header: 'Ended', isNumber: true, cell: ({ endedAt }) => <Time at={endedAt} /> },
  {
    id: 'error',
    header: 'Error',
    cell: ({ error }) => <span className="text line-clamp-1">{error ?? ''}</span>,
  },
]

export interface RunQuery {
  readonly job?: string | undefined
  readonly queue?: string | undefined
  readonly state?: Row['state'] | undefined
}

export function RunsTable({ query, label }: { readonly query: RunQuery; readonly label: string }) {
  const list = useList('runs.list', { query }, { pollMs: 3000 })
  const navigate = useNavigate()
  return (
    <div className="stack">
      <DataTable
        label={label}
        list={list}
        columns={columns}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/runs/$id', params: { id } })}
        empty={<Empty icon="play" title="No run matches" />}
      />
    </div>
  )
}
