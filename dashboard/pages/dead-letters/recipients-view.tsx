import { Link } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { useApi } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { Time } from '../../parts/time.tsx'

type Recipient = Answer<'deadLetters.recipients'>['data'][number]

const columns: readonly Column<Recipient>[] = [
  {
    id: 'endpoint',
    header: 'Endpoint',
    phone: 'title',
    cell: ({ endpoint }) => (
      <Link to="/endpoints/$name" params={{ name: endpoint }} className="name">
        {endpoint}
      </Link>
    ),
  },
  { id: 'contact', header: 'Contact', phone: 'detail', cell: ({ contact }) => <bdi>{contact ?? '–'}</bdi> },
  {
    id: 'count',
    header: 'Not delivered',
    isNumber: true,
    phone: 'aside',
    cell: ({ count }) => formatCount(count),
  },
  {
    id: 'letters',
    header: 'Dead letters',
    isNumber: true,
    cell: ({ deadLetters }) => formatCount(deadLetters),
  },
  { id: 'overdue', header: 'Overdue', isNumber: true, cell: ({ overdue }) => formatCount(overdue) },
  {
    id: 'since',
    header: 'Since',
    isNumber: true,
    phone: 'detail',
    cell: ({ since }) => <Time at={since} as="ago" />,
  },
  {
    id: 'error',
    header: 'Last error',
    cell: ({ lastError }) => <span className="text line-clamp-2">{lastError ?? '–'}</span>,
  },
]

/** Endpoints that critical events have not reached, the longest waiting first. */
export function RecipientsView() {
  const recipients = useApi('deadLetters.recipients', {}, { topics: ['letters'] })
  return (
    <Loaded of={recipients}>
      {({ data }) => (
        <div className="card">
          {data.length === 0 ? (
            <Empty icon="ok" isWell title="Every critical event was delivered">
              <p>
                An endpoint is listed here while a critical event is its dead letter, or is overdue by an
                hour.
              </p>
            </Empty>
          ) : (
            <SimpleTable
              label="Recipients"
              rows={data}
              columns={columns}
              rowId={({ endpoint }) => endpoint}
            />
          )}
        </div>
      )}
    </Loaded>
  )
}
