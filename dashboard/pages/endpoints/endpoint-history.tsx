import { may } from '../../api/session.ts'
import { type ItemOf, useList } from '../../api/use-api.ts'
import { type Column, DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { NeedsRole } from '../../parts/needs-role.tsx'
import { Time } from '../../parts/time.tsx'
import { changeWords } from '../overview/change-words.ts'

type Entry = ItemOf<'access.audit'>

const columns: readonly Column<Entry>[] = [
  { id: 'at', header: 'Time', phone: 'detail', cell: ({ at }) => <Time at={at} /> },
  {
    id: 'what',
    header: 'What',
    phone: 'title',
    cell: ({ action, subject }) => changeWords(action, subject),
  },
  { id: 'who', header: 'Who', phone: 'aside', cell: ({ actor }) => <bdi>{actor}</bdi> },
  {
    id: 'reason',
    header: 'Reason',
    phone: 'detail',
    cell: ({ detail }) => (typeof detail['reason'] === 'string' ? <bdi>{detail['reason']}</bdi> : ''),
  },
]

/** Who did what to it, from the audit log. */
export function EndpointHistory({ name }: { readonly name: string }) {
  if (!may('administer')) return <NeedsRole what="The audit log" permission="administer" />
  return <History name={name} />
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
