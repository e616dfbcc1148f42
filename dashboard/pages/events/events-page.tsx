import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ItemOf, useList } from '../../api/use-api.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { formatBytes } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'

type Row = ItemOf<'storedEvents.list'>

const columns: readonly Column<Row>[] = [
  {
    id: 'id',
    header: 'Event',
    phone: 'title',
    cell: ({ id }) => (
      <Link to="/events/$id" params={{ id }} className="mono">
        {id}
      </Link>
    ),
  },
  {
    id: 'type',
    header: 'Type',
    phone: 'detail',
    cell: ({ type }) => <bdi>{type ?? '–'}</bdi>,
  },
  {
    id: 'state',
    header: 'State',
    phone: 'aside',
    cell: ({ state }) => (state === 'unrouted' ? <span className="tag">unrouted</span> : ''),
  },
  { id: 'tenant', header: 'Tenant', cell: ({ tenant }) => <bdi>{tenant ?? ''}</bdi> },
  {
    id: 'correlation',
    header: 'Correlation id',
    cell: ({ correlationId }) => <bdi className="mono">{correlationId ?? ''}</bdi>,
  },
  {
    id: 'criticality',
    header: 'Criticality',
    cell: ({ criticality }) =>
      criticality === 'critical' ? <State kind="criticality" value="critical" /> : '',
  },
  { id: 'size', header: 'Size', isNumber: true, cell: ({ sizeBytes }) => formatBytes(sizeBytes) },
  {
    id: 'at',
    header: 'Accepted',
    isNumber: true,
    phone: 'detail',
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
]

/** Did it arrive, and who got it? */
export function EventsPage() {
  const search = useSearch({ from: '/events' })
  const navigate = useNavigate({ from: '/events' })
  const { type, tenant, correlationId, state } = search
  const list = useList(
    'storedEvents.list',
    { query: { eventType: type, tenant, correlationId, state } },
    { topics: ['traffic'] },
  )
  const set = (change: Partial<typeof search>): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true })
  const isFiltered =
    type !== undefined || tenant !== undefined || correlationId !== undefined || state !== undefined
  return (
    <>
      <PageTitle title="Events" hint="newest first" />
      <div className="filters items-end">
        <FilterField
          label="Type"
          value={type}
          placeholder="order.created or order.*"
          onChange={(value) => set({ type: value })}
        />
        <FilterField
          label="Correlation id"
          value={correlationId}
          isMono
          onChange={(value) => set({ correlationId: value })}
        />
        <FilterField label="Tenant" value={tenant} onChange={(value) => set({ tenant: value })} />
        <div className="segments" role="group" aria-label="Which">
          {([undefined, 'unrouted'] as const).map((one) => (
            <Link
              key={one ?? 'all'}
              to="/events"
              search={(before) => ({ ...before, state: one })}
              activeOptions={{ exact: true, explicitUndefined: true }}
            >
              {one === undefined ? 'All' : 'Unrouted'}
            </Link>
          ))}
        </div>
      </div>
      <DataTable
        label="Events"
        list={list}
        columns={columns}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/events/$id', params: { id } })}
        empty={
          isFiltered ? (
            <Empty icon="filter" title="No event matches">
              <Link to="/events" search={{}} className="button">
                Clear filter
              </Link>
            </Empty>
          ) : (
            <Empty icon="event" title="No event yet">
              <Link to="/" className="button">
                Publish your first event
              </Link>
            </Empty>
          )
        }
      />
    </>
  )
}
