import { may } from '../../api/session.ts'
import { type ItemOf, useList } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { NeedsRole } from '../../parts/needs-role.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { type AuditEntry, auditColumns } from '../audit/audit-columns.tsx'

const columns: readonly Column<AuditEntry>[] = [
  ...auditColumns,
  {
    id: 'reason',
    header: 'Reason',
    phone: 'detail',
    cell: ({ detail }) => (typeof detail['reason'] === 'string' ? <bdi>{detail['reason']}</bdi> : ''),
  },
]

/** When its circuit changed, and who did what to it, from the audit log. */
export function EndpointHistory({ name }: { readonly name: string }) {
  return (
    <div className="columns lg:grid-cols-2">
      <div className="stack">
        <h2>Changes</h2>
        {may('administer') ? (
          <History name={name} />
        ) : (
          <NeedsRole what="The audit log" permission="administer" />
        )}
      </div>
      <div className="stack">
        <h2>Circuit</h2>
        <CircuitHistory name={name} />
      </div>
    </div>
  )
}

type CircuitChange = ItemOf<'circuitChanges.list'>

const circuitColumns: readonly Column<CircuitChange>[] = [
  { id: 'at', header: 'Time', phone: 'detail', cell: ({ at }) => <Time at={at} /> },
  {
    id: 'to',
    header: 'Became',
    phone: 'title',
    cell: ({ to }) => <State kind="circuit" value={to} />,
  },
  {
    id: 'probes',
    header: 'Failed probes',
    isNumber: true,
    phone: 'detail',
    cell: ({ to, probes }) => (to === 'open' ? formatCount(probes) : ''),
  },
  { id: 'who', header: 'Seen by', phone: 'aside', cell: ({ actor }) => <bdi>{actor}</bdi> },
]

function CircuitHistory({ name }: { readonly name: string }) {
  const list = useList('circuitChanges.list', { query: { endpoint: name } }, { topics: ['changes'] })
  return (
    <DataTable
      label="Circuit changes"
      list={list}
      columns={circuitColumns}
      rowId={({ id }) => id}
      empty={<Empty icon="ok" isWell title="The circuit never opened" />}
    />
  )
}

function History({ name }: { readonly name: string }) {
  const list = useList('access.audit', { query: { subject: `endpoint:${name}` } }, { topics: ['changes'] })
  return (
    <DataTable
      label="Changes"
      list={list}
      columns={columns}
      rowId={({ id }) => id}
      empty={<Empty icon="audit" title="Nothing was changed yet" />}
    />
  )
}
