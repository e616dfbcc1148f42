import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { lazy, Suspense, useMemo } from 'react'
import { useList } from '../../api/use-api.ts'
import { pathOfId } from '../../frame/id-paths.ts'
import { defaultRange, rangeMs, rangeNames } from '../../frame/time-range.ts'
import { serverNowMs } from '../../live/server-clock.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { FilterFold } from '../../parts/filter-fold.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { eventColumns } from './event-columns.tsx'

const SearchResults = lazy(async () => ({ default: (await import('./search-results.tsx')).SearchResults }))

/** Did it arrive, and who got it? */
export function EventsPage() {
  const search = useSearch({ from: '/events' })
  const navigate = useNavigate({ from: '/events' })
  const { type, tenant, correlationId, orderingKey, state, path, equals, has } = search
  const filter = { eventType: type, tenant, correlationId, orderingKey, state }
  const isSearch = (path !== undefined && equals !== undefined) || has !== undefined
  const list = useList('storedEvents.list', { query: filter }, { topics: ['traffic'], enabled: !isSearch })
  const set = (change: Partial<typeof search>): void =>
    void navigate({ search: (before) => ({ ...before, ...change }), replace: true })
  const { range = defaultRange } = useSearch({ strict: false })
  // oxlint-disable-next-line react/exhaustive-deps -- another search begins now
  const from = useMemo(() => startOf(rangeMs[range]), [range, path, equals, has])
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  return (
    <>
      <PageTitle title="Events" hint={isSearch ? `of the last ${rangeNames[range]}` : 'newest first'} />
      <FilterFold values={[type, correlationId, orderingKey, tenant, path, equals, has]}>
        <div className="filters">
          <FilterField
            label="Type"
            value={type}
            placeholder="order.created or order.*"
            onChange={(value) => set({ type: value })}
          />
          <FilterField
            label="Event id"
            value={undefined}
            isMono
            placeholder="msg_…"
            onChange={(value) => {
              const place = pathOfId(value ?? '')
              if (place !== null) void navigate({ to: place })
            }}
          />
          <FilterField
            label="Correlation id"
            value={correlationId}
            isMono
            onChange={(value) => set({ correlationId: value })}
          />
          <FilterField
            label="Ordering key"
            value={orderingKey}
            isMono
            onChange={(value) => set({ orderingKey: value })}
          />
          <FilterField label="Tenant" value={tenant} onChange={(value) => set({ tenant: value })} />
          <div className="segments" role="group" aria-label="Which">
            {([undefined, 'unrouted'] as const).map((one) => (
              <Link
                key={one ?? 'all'}
                to="/events"
                search={(before) => ({ ...before, state: one })}
                activeOptions={{ exact: true }}
              >
                {one === undefined ? 'All' : 'Unrouted'}
              </Link>
            ))}
          </div>
        </div>
        <div className="filters" role="group" aria-label="In the payload">
          <FilterField
            label="Payload path"
            value={path}
            isMono
            placeholder="customer.id or items[0].sku"
            onChange={(value) => set({ path: value })}
          />
          <FilterField
            label="Path equals"
            value={equals}
            isMono
            onChange={(value) => set({ equals: value })}
          />
          <FilterField
            label="Payload has the text"
            value={has}
            isMono
            placeholder="in this case"
            onChange={(value) => set({ has: value })}
          />
        </div>
      </FilterFold>
      {isSearch ? (
        <Suspense>
          <SearchResults
            query={{
              ...filter,
              ...(path !== undefined && equals !== undefined && { path, equals }),
              ...(has !== undefined && { text: has }),
              from,
            }}
          />
        </Suspense>
      ) : (
        <DataTable
          label="Events"
          list={list}
          columns={eventColumns}
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
      )}
    </>
  )
}

function startOf(spanMs: number): string {
  return new Date(serverNowMs() - spanMs).toISOString()
}
