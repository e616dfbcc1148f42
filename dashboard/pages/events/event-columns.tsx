import type { ItemOf } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { formatBytes } from '../../parts/numbers.ts'
import { RowLink } from '../../parts/row-link.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'

type Row = ItemOf<'storedEvents.list'>

export const eventColumns: readonly Column<Row>[] = [
  {
    id: 'id',
    header: 'Event',
    phone: 'title',
    cell: ({ id }) => (
      <RowLink to="/events/$id" params={{ id }} className="mono">
        {id}
      </RowLink>
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
  { id: 'tenant', header: 'Tenant', cell: ({ tenant }) => tenant && <bdi>{tenant}</bdi> },
  {
    id: 'correlation',
    header: 'Correlation id',
    cell: ({ correlationId }) => correlationId && <bdi className="mono">{correlationId}</bdi>,
  },
  {
    id: 'key',
    header: 'Ordering key',
    cell: ({ orderingKey }) => orderingKey && <bdi className="mono">{orderingKey}</bdi>,
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
