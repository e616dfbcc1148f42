import { Link } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import type { Column } from '../../parts/column.ts'
import { EndpointState } from '../../parts/endpoint-state.tsx'
import { formatCount, formatSpan } from '../../parts/numbers.ts'
import { SimpleTable } from '../../parts/simple-table.tsx'

type Endpoint = Answer<'overview.get'>['endpoints'][number]

const shown = 8

const columns: readonly Column<Endpoint>[] = [
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
    cell: ({ state, circuit }) => <EndpointState state={state} circuit={circuit} />,
  },
  { id: 'flight', header: 'In flight', isNumber: true, cell: ({ inFlight }) => formatCount(inFlight) },
  {
    id: 'waiting',
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
]

export function EndpointsCard({ endpoints }: { readonly endpoints: readonly Endpoint[] }) {
  return (
    <section className="card">
      <header>
        <h2>Endpoints</h2>
        <span className="hint">
          {Math.min(shown, endpoints.length)} of {formatCount(endpoints.length, 200)}, unhealthy first
        </span>
        <Link to="/endpoints">All endpoints</Link>
      </header>
      <SimpleTable
        label="Endpoints"
        rows={endpoints.slice(0, shown)}
        columns={columns}
        rowId={({ name }) => name}
      />
    </section>
  )
}
