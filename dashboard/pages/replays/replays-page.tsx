import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import { may } from '../../api/session.ts'
import { useList } from '../../api/use-api.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Icon } from '../../parts/icon.tsx'
import { PageTitle } from '../../parts/page-title.tsx'
import { operationColumns } from '../operations/operations-page.tsx'

const ReplayRangeDialog = lazy(async () => ({
  default: (await import('./replay-range-dialog.tsx')).ReplayRangeDialog,
}))

/** What was sent again from the archive, and how far is it? */
export function ReplaysPage() {
  const navigate = useNavigate()
  const [isOpen, setIsOpen] = useState(false)
  const list = useList('operations.list', { query: { kind: 'replay' } }, { pollMs: 3000 })
  return (
    <>
      <PageTitle
        title="Replays"
        hint="what was sent again from the archive"
        actions={
          may('operate') && (
            <button type="button" className="button primary" data-key="r" onClick={() => setIsOpen(true)}>
              <Icon name="replay" />
              Replay a range…
            </button>
          )
        }
      />
      <DataTable
        label="Replays"
        list={list}
        columns={operationColumns}
        rowId={({ id }) => id}
        onOpen={({ id }) => void navigate({ to: '/operations/$id', params: { id } })}
        empty={
          <Empty icon="replay" title="No range was replayed yet">
            <p>
              A replay sends events of a time range again, in their order, to the same or another endpoint.
              Receivers see each as a new message.
            </p>
          </Empty>
        }
      />
      <Suspense>
        {isOpen && (
          <ReplayRangeDialog
            onClose={() => setIsOpen(false)}
            onStarted={(id) => void navigate({ to: '/operations/$id', params: { id } })}
          />
        )}
      </Suspense>
    </>
  )
}
