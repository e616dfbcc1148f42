import { Link, useNavigate } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { useApi, useList } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { Note } from '../../parts/note.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { Time } from '../../parts/time.tsx'
import { failureCodes, failureWords, isRoutesFailure } from './error-words.ts'
import { GroupHistory } from './group-history.tsx'
import { LetterBars } from './letter-bars.tsx'
import { type LetterSearch, letterFilter } from './letter-search.ts'
import { LettersView } from './letters-view.tsx'
import { NoLetters } from './no-letters.tsx'

type Group = Answer<'deadLetters.groups'>['data'][number]

const groupId = ({ fingerprint, endpoint, queue }: Group): string =>
  `${fingerprint} ${endpoint ?? ''} ${queue ?? ''}`

const groupSearch = (before: LetterSearch, fingerprint: string, endpoint: string | null): LetterSearch => ({
  ...before,
  fingerprint,
  ...(endpoint !== null && { endpoint }),
})

const columns: readonly Column<Group>[] = [
  {
    id: 'what',
    header: 'What went wrong',
    phone: 'title',
    cell: ({ fingerprint, endpoint, sample }) => (
      <span className="two">
        <Link
          to="/dead-letters"
          search={(before) => groupSearch(before as LetterSearch, fingerprint, endpoint)}
          className="name text line-clamp-2"
        >
          {failureWords(sample)}
        </Link>
        <span className="hint">{failureCodes(sample)}</span>
      </span>
    ),
  },
  {
    id: 'where',
    header: 'Where',
    phone: 'detail',
    isPlain: true,
    cell: ({ endpoint, queue, routes }) =>
      endpoint !== null ? (
        <span className="two">
          <Link to="/endpoints/$name" params={{ name: endpoint }}>
            {endpoint}
          </Link>
          <span className="hint max-[720px]:hidden">{routes.join(', ')}</span>
        </span>
      ) : queue !== null ? (
        <>
          {queue} <span className="tag">queue</span>
        </>
      ) : (
        'deleted since'
      ),
  },
  {
    id: 'count',
    header: 'Letters',
    isNumber: true,
    phone: 'aside',
    cell: ({ count }) => <b>{formatCount(count)}</b>,
  },
  {
    id: 'series',
    header: 'Last 24 h',
    cell: ({ series }) => <LetterBars series={series} />,
  },
  {
    id: 'first',
    header: 'First seen',
    isNumber: true,
    cell: ({ firstSeenAt }) => <Time at={firstSeenAt} as="ago" />,
  },
  {
    id: 'last',
    header: 'Last seen',
    isNumber: true,
    phone: 'detail',
    cell: ({ lastSeenAt }) => <Time at={lastSeenAt} as="ago" />,
  },
  { id: 'fix', header: '', isNumber: true, phone: 'detail', cell: (group) => <Fix group={group} /> },
]

/** Where the cause is fixed: in the route that can't render it, or at the receiver. */
function Fix({ group }: { readonly group: Group }) {
  const [route] = group.routes
  if (route !== undefined && isRoutesFailure(group.sample)) {
    return (
      <Link to="/routes/$name" params={{ name: route }} className="button">
        Fix route
      </Link>
    )
  }
  if (group.endpoint === null) {
    if (group.queue === null) return null
    return (
      <Link to="/runs" search={{ queue: group.queue, state: 'failed' }} className="button ghost">
        Open runs
      </Link>
    )
  }
  return (
    <Link to="/endpoints/$name" params={{ name: group.endpoint }} className="button ghost">
      Open endpoint
    </Link>
  )
}

/** By error and endpoint, the largest first; below, the letters of the one that is looked at. */
export function GroupsView({ search }: { readonly search: LetterSearch }) {
  const navigate = useNavigate({ from: '/dead-letters' })
  const { fingerprint, ...rest } = search
  const isChosen = fingerprint !== undefined
  const query = letterFilter(isChosen ? { ...rest, fingerprint } : rest)
  const list = useList('deadLetters.groups', { query }, { topics: ['letters', 'changes'] })
  // The first page says whether all letters were asked.
  const whole = useApi(
    'deadLetters.groups',
    { query: { ...query, limit: 1 } },
    { topics: ['letters', 'changes'] },
  )
  const chosen = isChosen ? list.rows[0] : undefined
  return (
    <>
      {whole.data?.isComplete === false && (
        <Note tone="accent" lead="Asked of the newest 10,000 letters only, and there are more." />
      )}
      {isChosen && (
        <p>
          <Link to="/dead-letters" search={{ ...search, fingerprint: undefined }}>
            All groups
          </Link>
        </p>
      )}
      <DataTable
        label="Groups"
        list={list}
        columns={columns}
        rowId={groupId}
        onOpen={({ fingerprint: chosenOne, endpoint }) =>
          void navigate({
            search: (before) => groupSearch(before, chosenOne, endpoint),
          })
        }
        empty={<NoLetters search={search} />}
      />
      {chosen !== undefined && (
        <>
          <GroupHistory group={chosen} />
          <LettersView search={search} title={failureWords(chosen.sample)} count={chosen.count} />
        </>
      )}
    </>
  )
}
