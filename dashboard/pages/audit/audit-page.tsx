import { Link, useNavigate, useSearch } from '@tanstack/react-router'
import { may } from '../../api/session.ts'
import { useList } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { FilterField } from '../../parts/filter-field.tsx'
import { FilterFold } from '../../parts/filter-fold.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { NeedsRole } from '../../parts/needs-role.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { type AuditEntry, auditColumns } from './audit-columns.tsx'

const columns: readonly Column<AuditEntry>[] = [
  ...auditColumns,
  { id: 'action', header: 'Action', cell: ({ action }) => <code>{action}</code> },
  {
    id: 'detail',
    header: 'Detail',
    cell: ({ id, detail }) =>
      Object.keys(detail).length === 0 ? (
        ''
      ) : (
        <details>
          <summary className="cursor-pointer quiet">
            {typeof detail['reason'] === 'string' ? detail['reason'] : 'show'}
          </summary>
          <JsonView value={detail} label={`Detail of ${id}`} />
        </details>
      ),
  },
]

/** Who did what? */
export function AuditPage() {
  if (!may('administer')) {
    return (
      <>
        <PageTitle title="Audit" />
        <NeedsRole what="The audit log" permission="administer" />
      </>
    )
  }
  return <Audit />
}

function Audit() {
  const search = useSearch({ from: '/audit' })
  const navigate = useNavigate({ from: '/audit' })
  const { subject, actor, action } = search
  const list = useList('access.audit', { query: { subject, actor, action } }, { topics: ['changes'] })
  const set = (change: Partial<typeof search>): void =>
    void navigate({ search: { ...search, ...change }, replace: true })
  return (
    <>
      <PageTitle title="Audit" hint="newest first" />
      <FilterFold values={[subject, actor, action]}>
        <div className="filters">
          <FilterField
            label="Subject"
            value={subject}
            placeholder="endpoint:crm"
            onChange={(value) => set({ subject: value })}
          />
          <FilterField
            label="Who"
            value={actor}
            placeholder="key:shop"
            onChange={(value) => set({ actor: value })}
          />
          <FilterField
            label="Action"
            value={action}
            placeholder="route.updated"
            onChange={(value) => set({ action: value })}
          />
        </div>
      </FilterFold>
      <DataTable
        label="Audit log"
        list={list}
        columns={columns}
        rowId={({ id }) => id}
        empty={
          <Empty icon="audit" title="No entry matches">
            <Link to="/audit" search={{}} className="button">
              Clear filter
            </Link>
          </Empty>
        }
      />
    </>
  )
}
