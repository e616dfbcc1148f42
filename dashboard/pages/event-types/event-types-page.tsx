import { Link, useNavigate } from '@tanstack/react-router'
import { useId, useState } from 'react'
import { may } from '../../api/session.ts'
import { type ItemOf, type ListResult, useApi, useList } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { DataTable } from '../../parts/data-table.tsx'
import { Empty } from '../../parts/empty.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'

type Declared = ItemOf<'eventTypes.list'>

interface Row {
  readonly name: string
  readonly declared: Declared | undefined
  readonly count: number
  readonly lastSeenAt: string | null
}

const columns: readonly Column<Row>[] = [
  {
    id: 'name',
    header: 'Event type',
    phone: 'title',
    cell: ({ name }) => (
      <Link to="/event-types/$name" params={{ name }} className="name mono">
        {name}
      </Link>
    ),
  },
  {
    id: 'schema',
    header: 'Schema',
    phone: 'aside',
    cell: ({ declared }) =>
      declared === undefined ? (
        <span className="tag">not declared</span>
      ) : declared.schema === null ? (
        'none'
      ) : (
        'checked'
      ),
  },
  {
    id: 'criticality',
    header: 'Criticality',
    cell: ({ declared }) =>
      declared?.criticality == null ? '' : <State kind="criticality" value={declared.criticality} />,
  },
  {
    id: 'description',
    header: 'Description',
    phone: 'detail',
    cell: ({ declared }) =>
      (declared?.description ?? '') !== '' && (
        <span className="text line-clamp-1">{declared?.description}</span>
      ),
  },
  {
    id: 'count',
    header: 'Recent events',
    isNumber: true,
    phone: 'detail',
    cell: ({ count }) => formatCount(count),
  },
  {
    id: 'last',
    header: 'Last seen',
    isNumber: true,
    cell: ({ lastSeenAt }) => (lastSeenAt === null ? '–' : <Time at={lastSeenAt} as="ago" />),
  },
]

/** What may be published, and what was? */
export function EventTypesPage() {
  const navigate = useNavigate()
  const list = useList('eventTypes.list', { query: { limit: 1000 } }, { topics: ['changes'] })
  const recent = useApi('eventTypes.recent', {}, { pollMs: 15_000 })
  const seen = new Map((recent.data?.data ?? []).map((one) => [one.type, one]))
  const declared = new Set(list.rows.map(({ name }) => name))
  const rows: readonly Row[] = [
    ...list.rows.map((one) => ({
      name: one.name,
      declared: one,
      count: seen.get(one.name)?.count ?? 0,
      lastSeenAt: seen.get(one.name)?.lastSeenAt ?? null,
    })),
    ...[...seen.values()]
      .filter(({ type }) => !declared.has(type))
      .map(({ type, count, lastSeenAt }) => ({ name: type, declared: undefined, count, lastSeenAt })),
  ].sort((one, other) => one.name.localeCompare(other.name))
  const shown: ListResult<Row> = { ...list, rows }
  return (
    <>
      <PageTitle
        title="Event types"
        hint={
          recent.data !== undefined && recent.data.since !== null ? (
            <>
              counted among the last {formatCount(recent.data.scanned)} messages, since{' '}
              <Time at={recent.data.since} />
            </>
          ) : (
            'what may be published'
          )
        }
      />
      {may('configure') && <Declare />}
      <DataTable
        label="Event types"
        list={shown}
        columns={columns}
        rowId={({ name }) => name}
        onOpen={({ name }) => void navigate({ to: '/event-types/$name', params: { name } })}
        empty={
          <Empty icon="type" title="No event type yet">
            <p>
              Any type can be published. One that is declared can have a schema, which publishing checks, and
              a criticality.
            </p>
          </Empty>
        }
      />
    </>
  )
}

/** To the page of a type that isn't declared yet. */
function Declare() {
  const id = useId()
  const navigate = useNavigate()
  const [name, setName] = useState('')
  return (
    <form
      className="filters items-end"
      onSubmit={(event) => {
        event.preventDefault()
        if (name.trim() !== '') void navigate({ to: '/event-types/$name', params: { name: name.trim() } })
      }}
    >
      <div className="field">
        <label htmlFor={id}>Declare a type</label>
        <input
          id={id}
          className="input mono"
          placeholder="order.created"
          value={name}
          spellCheck={false}
          autoComplete="off"
          onChange={({ target }) => setName(target.value)}
        />
      </div>
      <button type="submit" className="button" disabled={name.trim() === ''}>
        Declare…
      </button>
    </form>
  )
}
