import { lazy, Suspense, useMemo, useState } from 'react'
import { may } from '../../api/session.ts'
import { type ItemOf, useList } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { NeedsRole } from '../../parts/needs-role.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { RowButton } from '../../parts/row-button.tsx'
import { Time } from '../../parts/time.tsx'

const KeyDialogs = lazy(async () => ({ default: (await import('./key-dialogs.tsx')).KeyDialogs }))

export type ApiKey = ItemOf<'access.listKeys'>

function columnsWith(onRevoke: (key: ApiKey) => void): readonly Column<ApiKey>[] {
  return [
    { id: 'name', header: 'Name', phone: 'title', cell: ({ name }) => <b className="text">{name}</b> },
    { id: 'role', header: 'Role', phone: 'aside', cell: ({ role }) => <span className="tag">{role}</span> },
    { id: 'id', header: 'Id', cell: ({ id }) => <code>{id}</code> },
    {
      id: 'used',
      header: 'Last used',
      isNumber: true,
      phone: 'detail',
      cell: ({ lastUsedAt }) => <Time at={lastUsedAt} />,
    },
    { id: 'made', header: 'Created', isNumber: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
    { id: 'by', header: 'By', cell: ({ createdBy }) => <bdi>{createdBy}</bdi> },
    {
      id: 'expires',
      header: 'Expires',
      isNumber: true,
      cell: ({ expiresAt }) => (expiresAt === null ? 'never' : <Time at={expiresAt} />),
    },
    {
      id: 'actions',
      header: '',
      isNumber: true,
      phone: 'detail',
      cell: (key) =>
        key.revokedAt !== null ? (
          <span className="hint">
            revoked <Time at={key.revokedAt} />
          </span>
        ) : (
          <RowButton text="Revoke…" of={key.name} isDanger onPress={() => onRevoke(key)} />
        ),
    },
  ]
}

/** Who may call? */
export function ApiKeysPage() {
  if (!may('administer')) {
    return (
      <>
        <PageTitle title="API keys" />
        <NeedsRole what="API keys" permission="administer" />
      </>
    )
  }
  return <Keys />
}

function Keys() {
  const list = useList('access.listKeys', {}, { topics: ['changes'] })
  const [dialog, setDialog] = useState<ApiKey | 'new' | null>(null)
  const columns = useMemo(() => columnsWith(setDialog), [])
  return (
    <>
      <PageTitle
        title="API keys"
        actions={
          <button type="button" className="button primary" onClick={() => setDialog('new')}>
            New key…
          </button>
        }
      />
      <DataTable
        label="API keys"
        list={list}
        columns={columns}
        rowId={({ id }) => id}
        empty={<Empty icon="apiKey" title="No stored key" />}
      />
      <Suspense>{dialog !== null && <KeyDialogs dialog={dialog} onClose={() => setDialog(null)} />}</Suspense>
    </>
  )
}
