import { useSearch } from '@tanstack/react-router'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useRef } from 'react'
import type { ListResult } from '../api/use-api.ts'
import type { Column } from './column.ts'
import { useNoteList } from './last-list.ts'
import { Bones } from './loaded.tsx'
import { ProblemNote } from './problem-note.tsx'
import { RowLinkSearch } from './row-link.tsx'
import { TableHead } from './table-head.tsx'
import { TableRow } from './table-row.tsx'
import { useCellIds } from './use-cell-ids.ts'
import { useCursor } from './use-cursor.ts'
import { measureLater, useRowHeights } from './use-row-heights.ts'
import type { Selection } from './use-selection.ts'
import { useSteadyRows } from './use-steady-rows.ts'

const overscan = 6
/** So close to the end, the next page is asked for. */
const loadAheadRows = 20

/**
 * A list of any length: only the rows in view are in the document, more are asked for as somebody scrolls. One tab stop; `j` and `k` move, Enter opens,
 * `x` selects. While somebody points at a row, has selected one or has scrolled, new rows wait behind a button.
 */
export function DataTable<Row>({
  label,
  list,
  columns,
  rowId,
  pathOf,
  onOpen,
  selection,
  empty,
}: {
  readonly label: string
  readonly list: ListResult<Row>
  readonly columns: readonly Column<Row>[]
  readonly rowId: (row: Row) => string
  /** Where Enter leads. */
  readonly pathOf?: (row: Row) => string
  readonly onOpen?: (row: Row) => void
  readonly selection?: Selection
  readonly empty: ReactNode
}) {
  const region = useRef<HTMLDivElement>(null)
  const { rows, waiting, release } = useSteadyRows(list.rows, rowId, region, (selection?.ids.size ?? 0) > 0)
  useNoteList(rows, rowId)
  const cellIds = useCellIds(columns)
  const range = useSearch({ strict: false, select: (search) => search.range })
  const { offset, height } = useRowHeights(region, rows.length > 0)
  // The same function as long as the rows are the same: another one would measure all of them anew.
  const getItemKey = useCallback((index: number) => rowId(rows[index] as Row), [rows, rowId])
  const virtualizer = useWindowVirtualizer<HTMLTableRowElement>({
    count: rows.length,
    estimateSize: () => height,
    overscan,
    scrollMargin: offset,
    getItemKey,
    measureElement: measureLater,
  })
  // What was laid out with another height is laid out anew.
  useLayoutEffect(() => virtualizer.measure(), [virtualizer, height])
  const items = virtualizer.getVirtualItems()
  const lastIndex = items.at(-1)?.index ?? 0
  const { hasMore, loadMore, isLoadingMore, error } = list
  useEffect(() => {
    if (hasMore && !isLoadingMore && error === null && lastIndex >= rows.length - loadAheadRows) loadMore()
  }, [hasMore, isLoadingMore, error, lastIndex, rows.length, loadMore])
  const cursor = useCursor(rows, rowId, region, { onOpen, selection, scrollTo: virtualizer.scrollToIndex })
  if (list.isFirstLoad && list.error === null) return <Bones rows={8} />
  const before = (items[0]?.start ?? offset) - offset
  const after = virtualizer.getTotalSize() - ((items.at(-1)?.end ?? offset) - offset)
  const columnCount = columns.length + (selection === undefined ? 0 : 1)
  return (
    <RowLinkSearch value={range === undefined ? '' : `?range=${range}`}>
      {error !== null && (
        <ProblemNote problem={error} updatedAtMs={list.updatedAtMs} onRetry={list.refetch} />
      )}
      {waiting > 0 && (
        <button type="button" className="button justify-self-center" onClick={release}>
          {waiting} new
        </button>
      )}
      <div className="card">
        {rows.length === 0 && !hasMore && error === null ? (
          empty
        ) : (
          <section className="scroll" ref={region} aria-label={label} tabIndex={0} data-table>
            <table className="table lists" aria-rowcount={hasMore ? -1 : rows.length + 1}>
              <TableHead
                columns={columns}
                {...(selection !== undefined && {
                  ticks: {
                    areAllOn: rows.length > 0 && rows.every((row) => selection.ids.has(rowId(row))),
                    onToggle: (isOn) => selection.set(isOn ? rows.map(rowId) : []),
                  },
                })}
              />
              <tbody>
                {before > 0 && <Spacer height={before} columns={columnCount} />}
                {items.map(({ index, key }) => {
                  const row = rows[index] as Row
                  const id = rowId(row)
                  return (
                    <TableRow
                      key={key}
                      row={row}
                      id={id}
                      index={index}
                      columns={columns}
                      cellIds={cellIds}
                      measure={virtualizer.measureElement}
                      isCursor={cursor.id === id}
                      isSelected={selection === undefined ? null : selection.ids.has(id)}
                      path={pathOf?.(row)}
                      onPress={cursor.press}
                      onTick={cursor.tick}
                    />
                  )
                })}
                {after > 0 && <Spacer height={after} columns={columnCount} />}
              </tbody>
            </table>
          </section>
        )}
        {hasMore && (
          <footer>
            {isLoadingMore ? (
              'Loading more…'
            ) : (
              <button type="button" className="button ghost" onClick={loadMore}>
                {rows.length === 0 ? 'Nothing found so far. Look further back' : 'Load more'}
              </button>
            )}
          </footer>
        )}
      </div>
    </RowLinkSearch>
  )
}

function Spacer({ height, columns }: { readonly height: number; readonly columns: number }) {
  return (
    <tr className="spacer" aria-hidden="true">
      <td colSpan={columns} style={{ height }} />
    </tr>
  )
}
