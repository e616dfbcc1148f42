import { lazy, Suspense, useMemo, useState } from 'react'
import { may } from '../../api/session.ts'
import { type ItemOf, useApi } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { formatBytes } from '../../parts/numbers.ts'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { Time } from '../../parts/time.tsx'

const RejectDialog = lazy(async () => ({ default: (await import('./reject-dialog.tsx')).RejectDialog }))

export type Reject = ItemOf<'sourceRejects.list'>

export interface ChosenReject {
  readonly reject: Reject
  readonly dialog: 'show' | 'retry' | 'discard'
}

function columnsWith(onChoose: (chosen: ChosenReject) => void): readonly Column<Reject>[] {
  const button = (reject: Reject, dialog: ChosenReject['dialog'], words: string) => (
    <button type="button" className="button ghost" onClick={() => onChoose({ reject, dialog })}>
      {words}…<span className="vh"> message {reject.id}</span>
    </button>
  )
  return [
    {
      id: 'id',
      header: 'Message',
      phone: 'title',
      cell: ({ id, messageId }) => <bdi>{messageId ?? id}</bdi>,
    },
    { id: 'source', header: 'Source', phone: 'detail', cell: ({ source }) => source },
    {
      id: 'error',
      header: 'Error',
      phone: 'detail',
      cell: ({ error }) => <span className="text">{error}</span>,
    },
    { id: 'size', header: 'Size', isNumber: true, cell: ({ size }) => formatBytes(size) },
    {
      id: 'received',
      header: 'Received',
      isNumber: true,
      phone: 'aside',
      cell: ({ receivedAt }) => <Time at={receivedAt} />,
    },
    {
      id: 'actions',
      header: '',
      isNumber: true,
      phone: 'detail',
      cell: (reject) => (
        <>
          {button(reject, 'show', 'Show')}
          {may('operate') && button(reject, 'retry', 'Retry')}
          {may('operate') && button(reject, 'discard', 'Discard')}
        </>
      ),
    },
  ]
}

/** What could not become an event; nothing is shown while there is none. */
export function RejectsCard() {
  const { data } = useApi(
    'sourceRejects.list',
    { query: { limit: 50 } },
    { topics: ['changes'], pollMs: 5_000 },
  )
  const [chosen, setChosen] = useState<ChosenReject | null>(null)
  const columns = useMemo(() => columnsWith(setChosen), [])
  if (data === undefined || data.data.length === 0) return null
  return (
    <section className="card">
      <header>
        <h2>Rejected messages</h2>
        <span className="hint">the newest 50 that could not become events</span>
      </header>
      <SimpleTable label="Rejected messages" rows={data.data} columns={columns} rowId={({ id }) => id} />
      <Suspense>{chosen !== null && <RejectDialog {...chosen} onClose={() => setChosen(null)} />}</Suspense>
    </section>
  )
}
