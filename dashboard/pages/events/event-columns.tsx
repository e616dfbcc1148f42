import { Link } from '@tanstack/react-router'
import type { ItemOf } from '../../api/use-api.ts'
import type { Column } from '../../parts/data-table.tsx'
import { formatBytes } from '../../parts/numbers.ts'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'

type Row = ItemOf<'storedEvents.list'>

export const eventColumns: readonly Column<Row>[] = [
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
    id: 'key',
    header: 'Ordering key',
    cell: ({ orderingKey }) => <bdi className="mono">{orderingKey ?? ''}</bdi>,
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
