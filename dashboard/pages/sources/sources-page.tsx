import { lazy, Suspense, useMemo, useState } from 'react'
import { may } from '../../api/session.ts'
import { type ItemOf, useApi } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { CommandBlock } from '../../parts/command-block.tsx'
import { Empty } from '../../parts/empty.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { SimpleTable } from '../../parts/simple-table.tsx'
import { State } from '../../parts/state.tsx'
import { RejectsCard } from './rejects-card.tsx'

const SourceDialog = lazy(async () => ({ default: (await import('./source-dialog.tsx')).SourceDialog }))

export type Source = ItemOf<'sources.list'>

export type Chosen =
  | { readonly dialog: 'new' }
  | { readonly dialog: 'switch' | 'delete' | 'retry'; readonly source: Source }

function columnsWith(onChoose: (chosen: Chosen) => void): readonly Column<Source>[] {
  return [
    { id: 'name', header: 'Name', phone: 'title', cell: ({ name }) => <b>{name}</b> },
    {
      id: 'state',
      header: 'State',
      phone: 'aside',
      cell: (source) => (
        <span className="two">
          <State kind="source" value={stateOf(source)} />
          {reasonOf(source) !== null && <span className="hint text">{reasonOf(source)}</span>}
        </span>
      ),
    },
    {
      id: 'from',
      header: 'Queue',
      cell: ({ config: { url, queue } }) => (
        <span className="two">
          <code className="text">{String(queue)}</code>
          <code className="hint text">{shownUrl(url)}</code>
        </span>
      ),
    },
    { id: 'nodes', header: 'Nodes', isNumber: true, cell: ({ nodes }) => formatCount(nodes.length) },
    {
      id: 'published',
      header: 'Published',
      isNumber: true,
      phone: 'detail',
      cell: ({ nodes }) => formatCount(nodes.reduce((sum, { published }) => sum + published, 0)),
    },
    {
      id: 'held',
      header: 'Unacknowledged',
      isNumber: true,
      cell: ({ nodes }) => formatCount(nodes.reduce((sum, { unacknowledged }) => sum + unacknowledged, 0)),
    },
    {
      id: 'rejects',
      header: 'Rejected',
      isNumber: true,
      phone: 'detail',
      cell: ({ rejects }) => formatCount(rejects),
    },
    {
      id: 'actions',
      header: '',
      isNumber: true,
      phone: 'detail',
      cell: (source) => actions(source, onChoose),
    },
  ]
}

function actions(source: Source, onChoose: (chosen: Chosen) => void) {
  const button = (dialog: 'switch' | 'delete' | 'retry', words: string) => (
    <button type="button" className="button ghost" onClick={() => onChoose({ dialog, source })}>
      {words}…<span className="vh"> {source.name}</span>
    </button>
  )
  return (
    <>
      {may('operate') && source.rejects > 0 && button('retry', 'Retry rejected')}
      {may('operate') && button('switch', source.state === 'active' ? 'Pause' : 'Resume')}
      {may('configure') && button('delete', 'Delete')}
    </>
  )
}

/** The worst that a node says, while the source is active. */
function stateOf({ state, nodes }: Source): string {
  if (state !== 'active') return state
  if (nodes.length === 0) return 'disconnected'
  return nodes.find((node) => node.state !== 'connected')?.state ?? 'connected'
}

function reasonOf({ state, stateReason, nodes }: Source): string | null {
  if (state !== 'active') return stateReason
  if (nodes.length === 0) return 'No node consumes it.'
  return nodes.find(({ error }) => error !== null)?.error ?? null
}

function shownUrl(url: Source['config'][string]): string {
  return typeof url === 'string' ? url : ((url as { readonly shown?: string } | undefined)?.shown ?? '')
}

/** Where do events come from, and does anything arrive? */
export function SourcesPage() {
  const sources = useApi('sources.list', { query: { limit: 100 } }, { topics: ['changes'], pollMs: 2_000 })
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const columns = useMemo(() => columnsWith(setChosen), [])
  return (
    <>
      <PageTitle
        title="Sources"
        hint="queues whose messages become events"
        actions={
          may('configure') && (
            <button type="button" className="button primary" onClick={() => setChosen({ dialog: 'new' })}>
              New source…
            </button>
          )
        }
      />
      <Loaded of={sources}>
        {({ data }) => (
          <div className="card">
            {data.length === 0 ? (
              <Empty icon="queue" title="No source yet">
                <p>
                  A source consumes a queue of RabbitMQ: each message is published as an event. In a terminal:
                </p>
                <CommandBlock>
                  holdfast sources create shop --url amqps://user:secret@host/app --queue orders
                </CommandBlock>
              </Empty>
            ) : (
              <SimpleTable label="Sources" rows={data} columns={columns} rowId={({ name }) => name} />
            )}
          </div>
        )}
      </Loaded>
      <RejectsCard />
      <Suspense>
        {chosen !== null && <SourceDialog chosen={chosen} onClose={() => setChosen(null)} />}
      </Suspense>
    </>
  )
}
