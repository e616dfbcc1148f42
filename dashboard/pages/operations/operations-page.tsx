import { Link, useNavigate } from '@tanstack/react-router'
import { type ItemOf, useList } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { FilterText } from './filter-text.tsx'
import { operationWords } from './operation-words.ts'

type Row = ItemOf<'operations.list'>

export const operationColumns: readonly Column<Row>[] = [
  {
    id: 'what',
    header: 'What',
    phone: 'title',
    cell: ({ id, kind, filter }) => (
      <span className="two">
        <Link to="/operations/$id" params={{ id }} className="name">
          {operationWords(kind)}
        </Link>
        <span className="hint text line-clamp-1">
          <FilterText filter={filter} />
        </span>
      </span>
    ),
  },
  {
    id: 'state',
    header: 'State',
    phone: 'aside',
    cell: ({ state }) => <State kind="operation" value={state} />,
  },
  {
    id: 'done',
    header: 'Done',
    isNumber: true,
    phone: 'detail',
    cell: ({ done, total }) => `${formatCount(done)} of ${formatCount(total)}`,
  },
  { id: 'skipped', header: 'Skipped', isNumber: true, cell: ({ skipped }) => formatCount(skipped) },
  { id: 'by', header: 'Started by', cell: ({ createdBy }) => <bdi>{createdBy}</bdi> },
  {
    id: 'at',
    header: 'Started',
    isNumber: true,
    phone: 'detail',
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
]

/** How far are bulk actions? */
export function OperationsPage() {
  const list = useList('operations.list', {}, { pollMs: 3000 })
  const navigate = useNavigate()
  return (
    <>
      <PageTitle title="Operations" hint="bulk actions in the background" />
      <DataTable
        label="Operations"
        list={list}
        columns={operationColumns}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/operations/$id', params: { id } })}
        empty={
          <Empty icon="operation" title="No operation yet">
            <p>
              Redriving, resolving, discarding, retrying, cancelling and replaying many at once show up here.
            </p>
          </Empty>
        }
      />
    </>
  )
}
