import { useNavigate } from '@tanstack/react-router'
import { lazy, Suspense, useMemo, useState } from 'react'
import type { Input } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import { type ItemOf, useList } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { countOf, formatCount } from '../../parts/numbers.ts'
import { RowLink } from '../../parts/row-link.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { useSelection } from '../../parts/use-selection.ts'
import { failureWords } from './error-words.ts'
import { LetterButtons } from './letter-buttons.tsx'
import { type LetterSearch, letterFilter } from './letter-search.ts'
import { NoLetters } from './no-letters.tsx'

const BulkDialog = lazy(async () => ({ default: (await import('./bulk-dialog.tsx')).BulkDialog }))

type Letter = ItemOf<'deadLetters.list'>
export type BulkKind = 'redrive' | 'resolve' | 'discard'
export type LetterFilter = Extract<Input<'operations.create'>['body'], { kind: 'redrive' }>['filter']

const columns: readonly Column<Letter>[] = [
  {
    id: 'id',
    header: 'Dead letter',
    phone: 'title',
    cell: ({ id }) => (
      <RowLink to="/dead-letters/$id" params={{ id }} className="mono">
        {id}
      </RowLink>
    ),
  },
  {
    id: 'state',
    header: 'State',
    phone: 'aside',
    cell: ({ state }) => <State kind="letter" value={state} />,
  },
  {
    id: 'error',
    header: 'What went wrong',
    phone: 'detail',
    isPlain: true,
    cell: (letter) => <span className="text line-clamp-1">{failureWords(letter)}</span>,
  },
  {
    id: 'where',
    header: 'Where',
    cell: ({ endpoint, job, queue }) => (
      <span className="text line-clamp-2 min-w-24">{endpoint ?? job ?? queue ?? '–'}</span>
    ),
  },
  {
    id: 'type',
    header: 'Event type',
    phone: 'detail',
    cell: ({ eventType, criticality }) => (
      <>
        <bdi>{eventType ?? '–'}</bdi>{' '}
        {criticality !== 'standard' && <State kind="criticality" value={criticality} />}
      </>
    ),
  },
  {
    id: 'key',
    header: 'Ordering key',
    cell: ({ orderingKey }) => <bdi className="mono whitespace-nowrap">{orderingKey ?? ''}</bdi>,
  },
  { id: 'attempts', header: 'Attempts', isNumber: true, cell: ({ attempts }) => formatCount(attempts) },
  {
    id: 'since',
    header: 'Dead since',
    isNumber: true,
    phone: 'detail',
    cell: ({ createdAt }) => <Time at={createdAt} />,
  },
]

/** Without those that would say the same in every row: what went wrong has the room instead. */
function columnsFor({ state, fingerprint }: LetterSearch): readonly Column<Letter>[] {
  const same = new Set<string>()
  if (state !== 'all') same.add('state')
  if (fingerprint !== undefined) for (const id of ['error', 'where']) same.add(id)
  return columns.filter(({ id }) => !same.has(id))
}

const letterId = ({ id }: Letter): string => id

/** Letters one by one, to look at and to select. */
export function LettersView({
  search,
  title,
  count,
}: {
  readonly search: LetterSearch
  readonly title: string
  /** How many there are in all, when that is known. */
  readonly count?: number
}) {
  const filter = letterFilter(search)
  const list = useList('deadLetters.list', { query: filter }, { topics: ['letters', 'changes'] })
  const { state, fingerprint } = search
  const shown = useMemo(() => columnsFor({ state, fingerprint }), [state, fingerprint])
  const selection = useSelection(JSON.stringify(filter))
  const navigate = useNavigate()
  const [isAllMatching, setIsAllMatching] = useState(false)
  const [dialog, setDialog] = useState<BulkKind | null>(null)
  const isOpenOnes = search.state === undefined
  const selected = selection.ids.size
  const chosenFilter: LetterFilter =
    isAllMatching || selected === 0 ? filter : { ids: [...selection.ids].slice(0, 1000) }
  return (
    <div className="stack">
      {count !== undefined && <h2 className="text">{title}</h2>}
      <DataTable
        label="Letters"
        list={list}
        columns={shown}
        rowId={letterId}
        {...(may('operate') && isOpenOnes && { selection })}
        onOpen={({ id }) => void navigate({ to: '/dead-letters/$id', params: { id } })}
        empty={<NoLetters search={search} />}
      />
      {may('operate') && isOpenOnes && list.rows.length > 0 && (
        <div className="selection" role="group" aria-label="Selected letters">
          <b>
            {selected === 0 || isAllMatching
              ? `All that match${count === undefined ? '' : `: ${formatCount(count)}`}`
              : countOf(selected, 'dead letter')}
          </b>
          {selected > 0 && (
            <button type="button" className="button ghost" onClick={() => setIsAllMatching(!isAllMatching)}>
              {isAllMatching ? `Only the ${formatCount(selected)} selected` : 'All that match instead'}
            </button>
          )}
          {selected > 0 && (
            <button type="button" className="button ghost" onClick={() => selection.set([])}>
              Clear <span className="key">esc</span>
            </button>
          )}
          <span className="grow" />
          <LetterButtons onChoose={setDialog} />
        </div>
      )}
      <Suspense>
        {dialog !== null && (
          <BulkDialog
            kind={dialog}
            filter={chosenFilter}
            endpoint={search.endpoint ?? null}
            onClose={() => setDialog(null)}
            onMilder={() => setDialog('resolve')}
            onStarted={() => {
              setDialog(null)
              selection.set([])
              setIsAllMatching(false)
            }}
          />
        )}
      </Suspense>
    </div>
  )
}
