import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { type ItemOf, useList } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { FilterFold } from '../../parts/filter-fold.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { RowLink } from '../../parts/row-link.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'

const deliveryStates = ['pending', 'succeeded', 'dead', 'expired', 'cancelled', 'dropped', 'skipped'] as const

import { useMemo } from 'react'
import { NextAttempt } from './next-attempt.tsx'
import type { Obstacles } from './obstacles.ts'
import { useObstacles } from './use-obstacles.ts'

type Row = ItemOf<'deliveries.list'>

const columnsWith = (obstacles: Obstacles): readonly Column<Row>[] => [
  {
    id: 'id',
    header: 'Delivery',
    phone: 'title',
    cell: ({ id }) => (
      <RowLink to="/deliveries/$id" params={{ id }} className="mono">
        {id}
      </RowLink>
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
        <RowLink to="/endpoints/$name" params={{ name: endpoint }}>
          {endpoint}
        </RowLink>
      ),
  },
  { id: 'attempt', header: 'Attempts', isNumber: true, cell: ({ attempt }) => formatCount(attempt) },
  {
    id: 'next',
    header: 'Next attempt',
    isNumber: true,
    phone: 'detail',
    cell: (delivery) =>
      delivery.state === 'pending' ? <NextAttempt delivery={delivery} obstacles={obstacles} /> : '',
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
  const { state, endpoint, route, eventType, error, messageId, sort } = search
  const list = useList(
    'deliveries.list',
    { query: { state, endpoint, route, eventType, error, messageId, sort } },
    { topics: ['traffic', 'letters'] },
  )
  const obstacles = useObstacles()
  const columns = useMemo(() => columnsWith(obstacles), [obstacles])
  const isFiltered = [state, endpoint, route, eventType, error, messageId, sort].some(
    (value) => value !== undefined,
  )
  const set = (change: Partial<typeof search>): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true })
  return (
    <>
      <PageTitle
        title="Deliveries"
        hint={sort === undefined ? 'newest first' : 'that wait for a time, the next attempt first'}
      />
      <div className="filters">
        <div className="segments flex-wrap" role="group" aria-label="State">
          {[undefined, ...deliveryStates].map((one) => (
            <Link
              key={one ?? 'all'}
              to="/deliveries"
              // Only what is pending has a next attempt.
              search={(before) => ({
                ...before,
                state: one,
                sort: one === undefined || one === 'pending' ? before.sort : undefined,
              })}
              activeOptions={{ exact: true }}
            >
              {one === undefined ? 'All' : one.charAt(0).toUpperCase() + one.slice(1)}
            </Link>
          ))}
        </div>
        <div className="segments" role="group" aria-label="Order">
          {([undefined, 'next_attempt'] as const).map((one) => (
            <Link
              key={one ?? 'newest'}
              to="/deliveries"
              search={(before) => ({
                ...before,
                sort: one,
                state: one === undefined || state === 'pending' ? state : undefined,
              })}
              activeOptions={{ exact: true }}
            >
              {one === undefined ? 'Newest' : 'Next attempt'}
            </Link>
          ))}
        </div>
      </div>
      <FilterFold values={[endpoint, route, eventType, error]}>
        <div className="filters">
          <FilterField label="Endpoint" value={endpoint} onChange={(value) => set({ endpoint: value })} />
          <FilterField label="Route" value={route} onChange={(value) => set({ route: value })} />
          <FilterField label="Event type" value={eventType} onChange={(value) => set({ eventType: value })} />
          <FilterField label="Error has" value={error} onChange={(value) => set({ error: value })} />
        </div>
      </FilterFold>
      <DataTable
        label="Deliveries"
        list={list}
        columns={columns}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/deliveries/$id', params: { id } })}
        empty={
          isFiltered ? (
            <Empty icon="delivery" title="No delivery matches">
              <Link to="/deliveries" search={{}} className="button">
                Clear filter
              </Link>
            </Empty>
          ) : (
            <Empty icon="delivery" title="No delivery yet">
              <p>An event is delivered to each endpoint that a route leads it to.</p>
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
