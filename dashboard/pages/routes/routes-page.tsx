import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { may } from '../../api/session.ts'
import { type ItemOf, useList } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { CommandBlock } from '../../parts/command-block.tsx'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { Icon } from '../../parts/icon.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { Time } from '../../parts/time.tsx'

type Row = ItemOf<'routes.list'>

export function Enabled({ isEnabled }: { readonly isEnabled: boolean }) {
  return (
    <span className={`state ${isEnabled ? 'ok' : 'neutral'}`}>
      <Icon name={isEnabled ? 'ok' : 'paused'} />
      {isEnabled ? 'Enabled' : 'Disabled'}
    </span>
  )
}

const columns: readonly Column<Row>[] = [
  {
    id: 'name',
    header: 'Name',
    phone: 'title',
    cell: ({ name }) => (
      <Link to="/routes/$name" params={{ name }} className="name">
        {name}
      </Link>
    ),
  },
  { id: 'enabled', header: 'State', phone: 'aside', cell: ({ enabled }) => <Enabled isEnabled={enabled} /> },
  {
    id: 'type',
    header: 'Event type',
    phone: 'detail',
    cell: ({ eventType }) => <code>{eventType}</code>,
  },
  {
    id: 'filter',
    header: 'Filter',
    cell: ({ filter }) => (filter === null ? '' : <code className="text">{filter}</code>),
  },
  {
    id: 'transform',
    header: 'Transform',
    cell: ({ transform }) => (transform === null ? 'none' : transform.type),
  },
  {
    id: 'endpoint',
    header: 'Endpoint',
    phone: 'detail',
    cell: ({ endpoint }) => (
      <Link to="/endpoints/$name" params={{ name: endpoint }}>
        {endpoint}
      </Link>
    ),
  },
  { id: 'tenant', header: 'Tenant', cell: ({ tenant }) => <bdi>{tenant ?? 'any'}</bdi> },
  { id: 'changed', header: 'Changed', isNumber: true, cell: ({ updatedAt }) => <Time at={updatedAt} /> },
]

/** Which events go where? */
export function RoutesPage() {
  const { endpoint } = useSearch({ from: '/routes' })
  const navigate = useNavigate({ from: '/routes' })
  const list = useList('routes.list', { query: { endpoint } }, { topics: ['changes'] })
  return (
    <>
      <PageTitle
        title="Routes"
        hint="which events go where"
        actions={
          may('configure') && (
            <Link
              to="/routes/+new"
              search={endpoint === undefined ? {} : { endpoint }}
              className="button primary"
            >
              New route
            </Link>
          )
        }
      />
      <div className="filters">
        <FilterField
          label="Endpoint"
          value={endpoint}
          onChange={(value) =>
            void navigate({ search: (before) => ({ ...before, endpoint: value }), replace: true })
          }
        />
      </div>
      <DataTable
        label="Routes"
        list={list}
        columns={columns}
        rowId={({ name }) => name}
        onOpen={({ name }) => void navigate({ to: '/routes/$name', params: { name } })}
        empty={
          <Empty icon="route" title={endpoint === undefined ? 'No route yet' : 'No route leads there'}>
            <p>A route says which events go to which endpoint, and in what shape. In a terminal:</p>
            <CommandBlock>
              holdfast routes create orders-to-crm --event-type 'order.*' --endpoint crm
            </CommandBlock>
          </Empty>
        }
      />
    </>
  )
}
