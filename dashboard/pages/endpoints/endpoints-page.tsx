import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { may } from '../../api/session.ts'
import { type ItemOf, useList } from '../../api/use-api.ts'
import { Sparkline } from '../../charts/sparkline.tsx'
import type { Column } from '../../parts/column.ts'
import { CommandBlock } from '../../parts/command-block.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { EndpointState } from '../../parts/endpoint-state.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { countOf, formatCount, formatDuration, formatPercent, formatSpan } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { Time } from '../../parts/time.tsx'

type Row = ItemOf<'endpoints.listHealth'>

const columns: readonly Column<Row>[] = [
  {
    id: 'name',
    header: 'Name',
    phone: 'title',
    cell: ({ name }) => (
      <Link to="/endpoints/$name" params={{ name }} className="name">
        {name}
      </Link>
    ),
  },
  {
    id: 'state',
    header: 'State',
    phone: 'aside',
    cell: ({ state, circuit, heldUntil }) => (
      <>
        <EndpointState state={state} circuit={circuit.state} />
        {state === 'held' && heldUntil !== null && (
          <span className="hint">
            {' '}
            until <Time at={heldUntil} />
          </span>
        )}
      </>
    ),
  },
  {
    id: 'attempts',
    header: 'Attempts, 24 h',
    cell: ({ name, series, successRate }) => (
      <Sparkline
        series={series}
        label={`${name}: ${successRate === null ? 'no attempts' : `${formatPercent(successRate)} succeeded`} in 24 hours`}
      />
    ),
  },
  {
    id: 'success',
    header: 'Success',
    isNumber: true,
    cell: ({ successRate }) => (successRate === null ? '–' : formatPercent(successRate)),
  },
  {
    id: 'p95',
    header: 'p95',
    isNumber: true,
    cell: ({ p95Ms }) => (p95Ms === null ? '–' : formatDuration(p95Ms)),
  },
  {
    id: 'inFlight',
    header: 'In flight',
    isNumber: true,
    cell: ({ inFlight, concurrency }) => `${formatCount(inFlight)} / ${formatCount(concurrency)}`,
  },
  {
    id: 'pending',
    header: 'Waiting',
    isNumber: true,
    phone: 'detail',
    cell: ({ pending }) => formatCount(pending),
  },
  {
    id: 'oldest',
    header: 'Oldest',
    isNumber: true,
    phone: 'detail',
    cell: ({ oldestDueMs }) => (oldestDueMs < 1000 ? '–' : formatSpan(oldestDueMs)),
  },
  {
    id: 'letters',
    header: 'Dead letters',
    isNumber: true,
    cell: ({ deadLetters }) => (deadLetters === 0 ? '–' : formatCount(deadLetters)),
  },
]

const nameOf = ({ name }: Row): string => name

/** Which endpoint is unhealthy? */
export function EndpointsPage() {
  const { q, tag, only } = useSearch({ from: '/endpoints' })
  const navigate = useNavigate({ from: '/endpoints' })
  const list = useList(
    'endpoints.listHealth',
    { query: { q, tag, troubled: only === 'unhealthy' } },
    { topics: ['traffic', 'changes'] },
  )
  const isFiltered = q !== undefined || tag !== undefined || only !== undefined
  return (
    <>
      <PageTitle
        title="Endpoints"
        hint={
          list.isFirstLoad
            ? undefined
            : `${countOf(list.rows.length, 'endpoint')}${list.hasMore ? ' and more' : ''}`
        }
        actions={
          may('configure') && (
            <Link to="/endpoints/+new" className="button primary">
              New endpoint
            </Link>
          )
        }
      />
      <div className="filters">
        <FilterField
          label="Name has"
          value={q}
          onChange={(value) =>
            void navigate({ search: (before) => ({ ...before, q: value }), replace: true })
          }
        />
        <FilterField
          label="Tag"
          value={tag}
          onChange={(value) =>
            void navigate({ search: (before) => ({ ...before, tag: value }), replace: true })
          }
        />
        <div className="segments" role="group" aria-label="Which">
          {([undefined, 'unhealthy'] as const).map((one) => (
            <Link
              key={one ?? 'all'}
              to="/endpoints"
              search={(before) => ({ ...before, only: one })}
              activeOptions={{ exact: true }}
            >
              {one === undefined ? 'All' : 'Unhealthy'}
            </Link>
          ))}
        </div>
      </div>
      <DataTable
        label="Endpoints"
        list={list}
        columns={columns}
        rowId={nameOf}
        onOpen={({ name }) => void navigate({ to: '/endpoints/$name', params: { name } })}
        empty={
          only === 'unhealthy' && q === undefined && tag === undefined ? (
            <Empty icon="ok" isWell title="Every endpoint is well" />
          ) : isFiltered ? (
            <Empty icon="filter" title="No endpoint matches">
              <Link to="/endpoints" search={{}} className="button">
                Clear filter
              </Link>
            </Empty>
          ) : (
            <Empty icon="endpoint" title="No endpoints yet">
              <p>An endpoint is where events are delivered. In a terminal:</p>
              <CommandBlock>
                holdfast endpoints create crm --url https://example.com/hooks --event-type 'order.*'
              </CommandBlock>
            </Empty>
          )
        }
      />
    </>
  )
}
