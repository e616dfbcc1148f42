import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ItemOf, useList } from '../../api/use-api.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'

const deliveryStates = ['pending', 'succeeded', 'dead', 'expired', 'cancelled', 'dropped', 'skipped'] as const

type Row = ItemOf<'deliveries.list'>

const columns: readonly Column<Row>[] = [
  {
    id: 'id',
    header: 'Delivery',
    phone: 'title',
    cell: ({ id }) => (
      <Link to="/deliveries/$id" params={{ id }} className="mono">
        {id}
      </Link>
    ),
  },
  {
    id: 'state',
    header: 'State',
    phone: 'aside',
    cell: ({ state }) => <State kind="delivery" value={state} />,
  },
  {
    id: 'type',
    header: 'Event type',
    phone: 'detail',
    cell: ({ eventType }) => <bdi>{eventType ?? '–'}</bdi>,
  },
  {
    id: 'endpoint',
    header: 'Endpoint',
    phone: 'detail',
    cell: ({ endpoint }) =>
      endpoint === null ? (
        'deleted since'
      ) : (
        <Link to="/endpoints/$name" params={{ name: endpoint }}>
          {endpoint}
        </Link>
      ),
  },
  { id: 'attempt', header: 'Attempts', isNumber: true, cell: ({ attempt }) => formatCount(attempt) },
  {
    id: 'next',
    header: 'Next attempt',
    isNumber: true,
    cell: ({ state, nextAttemptAt }) =>
      state !== 'pending' ? '' : nextAttemptAt === null ? 'due' : <Time at={nextAttemptAt} as="in" />,
  },
  {
    id: 'last',
    header: 'Last attempt',
    isNumber: true,
    cell: ({ lastAttemptAt }) => <Time at={lastAttemptAt} />,
  },
  {
    id: 'error',
    header: 'Error',
    cell: ({ error, errorCode }) => <span className="text line-clamp-1">{error ?? errorCode ?? ''}</span>,
  },
]

/** What waits, and what is next? */
export function DeliveriesPage() {
  const search = useSearch({ from: '/deliveries' })
  const navigate = useNavigate({ from: '/deliveries' })
  const { state, endpoint, route, eventType, error, messageId } = search
  const list = useList(
    'deliveries.list',
    { query: { state, endpoint, route, eventType, error, messageId } },
    { topics: ['traffic', 'letters'] },
  )
  const set = (change: Partial<typeof search>): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true })
  return (
    <>
      <PageTitle title="Deliveries" hint="newest first" />
      <div className="filters items-end">
        <div className="segments flex-wrap" role="group" aria-label="State">
          {[undefined, ...deliveryStates].map((one) => (
            <Link
              key={one ?? 'all'}
              to="/deliveries"
              search={(before) => ({ ...before, state: one })}
              activeOptions={{ exact: true }}
            >
              {one === undefined ? 'All' : one.charAt(0).toUpperCase() + one.slice(1)}
            </Link>
          ))}
        </div>
        <FilterField label="Endpoint" value={endpoint} onChange={(value) => set({ endpoint: value })} />
        <FilterField label="Route" value={route} onChange={(value) => set({ route: value })} />
        <FilterField label="Event type" value={eventType} onChange={(value) => set({ eventType: value })} />
        <FilterField label="Error has" value={error} onChange={(value) => set({ error: value })} />
      </div>
      <DataTable
        label="Deliveries"
        list={list}
        columns={columns}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/deliveries/$id', params: { id } })}
        empty={
          <Empty icon="delivery" title="No delivery matches">
            <Link to="/deliveries" search={{}} className="button">
              Clear filter
            </Link>
          </Empty>
        }
      />
    </>
  )
}
