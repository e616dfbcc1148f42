import { useState } from 'react'
import { type ItemOf, useList } from '../../api/use-api.ts'
import type { Column } from '../../parts/column.ts'
import { Bones } from '../../parts/loaded.tsx'
import { countOf, formatBytes, formatCount } from '../../parts/numbers.ts'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { SimpleTable } from '../../parts/simple-table.tsx'

type Table = ItemOf<'system.tables'>

const shownAtFirst = 12

const columns: readonly Column<Table>[] = [
  { id: 'name', header: 'Name', phone: 'title', cell: ({ name }) => <code>{name}</code> },
  {
    id: 'covers',
    header: 'Covers',
    // In UTC, which partitions go by.
    cell: ({ from, to }) =>
      from === null || to === null ? (
        ''
      ) : (
        <span className="whitespace-nowrap">
          {from.slice(0, 10)} to {to.slice(0, 10)}
        </span>
      ),
  },
  {
    id: 'size',
    header: 'Size',
    isNumber: true,
    phone: 'aside',
    cell: ({ bytes }) => formatBytes(bytes),
  },
  {
    id: 'rows',
    header: 'Rows',
    isNumber: true,
    phone: 'detail',
    cell: ({ rows }) => (rows === null ? '–' : formatCount(rows)),
  },
  { id: 'dead', header: 'Dead', isNumber: true, cell: ({ deadRows }) => formatCount(deadRows) },
]

/** What takes the space: partitions of messages and attempts, then the other tables, the largest first. */
export function TablesCard() {
  const list = useList('system.tables', { query: { limit: 500 } }, { pollMs: 60_000 })
  const partitions = list.rows.filter(({ parent }) => parent !== null)
  const tables = list.rows
    .filter(({ parent }) => parent === null)
    .toSorted((one, other) => other.bytes - one.bytes)
  return (
    <div className="columns lg:grid-cols-2">
      {list.error !== null && <ProblemNote problem={list.error} />}
      {list.isFirstLoad ? (
        <Bones rows={6} />
      ) : (
        <>
          <Sizes title="Partitions" tables={partitions} hasMore={list.hasMore} onMore={list.loadMore} />
          <Sizes title="Tables" tables={tables} hasMore={list.hasMore} onMore={list.loadMore} />
        </>
      )}
    </div>
  )
}

function Sizes({
  title,
  tables,
  hasMore,
  onMore,
}: {
  readonly title: string
  readonly tables: readonly Table[]
  readonly hasMore: boolean
  readonly onMore: () => void
}) {
  const [isWhole, setIsWhole] = useState(false)
  const shown = isWhole ? tables : tables.slice(0, shownAtFirst)
  const hasTimes = tables.some(({ from }) => from !== null)
  const bytes = tables.reduce((sum, table) => sum + table.bytes, 0)
  return (
    <section className="card">
      <header>
        <h2>{title}</h2>
        <span className="hint">
          {countOf(tables.length, 'table')}, {formatBytes(bytes)} with indexes; rows are estimates
        </span>
      </header>
      <SimpleTable
        label={title}
        rows={shown}
        columns={hasTimes ? columns : columns.filter(({ id }) => id !== 'covers')}
        rowId={({ name }) => name}
      />
      {(hasMore || shown.length < tables.length) && (
        <footer>
          {shown.length < tables.length && (
            <button type="button" className="button ghost" onClick={() => setIsWhole(true)}>
              Show all {formatCount(tables.length)}
            </button>
          )}
          {hasMore && (
            <button type="button" className="button ghost" onClick={onMore}>
              Load more
            </button>
          )}
        </footer>
      )}
    </section>
  )
}
