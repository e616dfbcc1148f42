import { type ColumnDef, tableFeatures, useTable } from '@tanstack/react-table'
import { useWindowVirtualizer } from '@tanstack/react-virtual'
import { type ReactNode, useEffect, useLayoutEffect, useMemo, useRef, useState } from 'react'
import type { ListResult } from '../api/use-api.ts'
import { preferences } from '../frame/preferences.ts'
import { isTyping } from '../frame/use-keys.ts'
import { useNoteList } from './last-list.ts'
import { Bones } from './loaded.tsx'
import { ProblemNote } from './problem-note.tsx'

/** Where a column goes on a phone, where a row is two lines: what it is and its state, then the numbers that matter. */
export type PhonePlace = 'title' | 'aside' | 'detail' | 'hidden'

export interface Column<Row> {
  readonly id: string
  readonly header: string
  readonly cell: (row: Row) => ReactNode
  readonly isNumber?: boolean
  /** Left out: hidden. */
  readonly phone?: PhonePlace
}

export interface Selection {
  readonly ids: ReadonlySet<string>
  readonly toggle: (id: string, isOn: boolean) => void
  readonly set: (ids: readonly string[]) => void
}

const features = tableFeatures({})
const rowHeight = 34
const overscan = 12
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
  const table = useRowModel(rows, columns, rowId)
  const offset = useOffset(region)
  const virtualizer = useWindowVirtualizer({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan,
    scrollMargin: offset,
    getItemKey: (index) => rowId(rows[index] as Row),
  })
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
  const modelRows = table.getRowModel().rows
  const columnCount = columns.length + (selection === undefined ? 0 : 1)
  return (
    <>
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
              <thead>
                <tr>
                  {selection !== undefined && (
                    <th scope="col">
                      <input
                        type="checkbox"
                        className="tick"
                        aria-label="Select all rows that are loaded"
                        checked={rows.length > 0 && rows.every((row) => selection.ids.has(rowId(row)))}
                        onChange={({ target }) => selection.set(target.checked ? rows.map(rowId) : [])}
                      />
                    </th>
                  )}
                  {columns.map(({ id, header, isNumber }) => (
                    <th key={id} scope="col" className={isNumber === true ? 'number' : ''}>
                      {header === '' ? <span className="vh">Actions</span> : header}
                    </th>
                  ))}
                </tr>
              </thead>
              <tbody>
                {before > 0 && <Spacer height={before} columns={columnCount} />}
                {items.map(({ index, key }) => {
                  const row = rows[index] as Row
                  const id = rowId(row)
                  const isSelected = selection?.ids.has(id) ?? false
                  return (
                    <tr
                      key={key}
                      ref={virtualizer.measureElement}
                      data-index={index}
                      aria-rowindex={index + 2}
                      {...(selection !== undefined && { 'aria-selected': isSelected })}
                      className={cursor.id === id ? 'cursor' : ''}
                      onMouseDown={() => cursor.setId(id)}
                      {...(pathOf !== undefined && { 'data-path': pathOf(row) })}
                    >
                      {selection !== undefined && (
                        <td className="phone-check">
                          <input
                            type="checkbox"
                            className="tick"
                            aria-label={`Select ${id}`}
                            checked={isSelected}
                            onChange={({ target, nativeEvent }) => {
                              if ((nativeEvent as MouseEvent).shiftKey) cursor.extendTo(id)
                              else selection.toggle(id, target.checked)
                              cursor.setId(id)
                            }}
                          />
                        </td>
                      )}
                      {modelRows[index]?.getAllCells().map((cell, place) => {
                        const column = columns[place]
                        const phone = column?.phone ?? 'hidden'
                        return (
                          <td
                            key={cell.id}
                            className={`phone-${phone}${column?.isNumber === true ? ' number' : ''}`}
                            {...(phone === 'detail' && { 'data-label': column?.header })}
                          >
                            {column?.cell(row)}
                          </td>
                        )
                      })}
                    </tr>
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
    </>
  )
}

function Spacer({ height, columns }: { readonly height: number; readonly columns: number }) {
  return (
    <tr className="spacer" aria-hidden="true">
      <td colSpan={columns} style={{ height }} />
    </tr>
  )
}

function useRowModel<Row>(
  rows: readonly Row[],
  columns: readonly Column<Row>[],
  rowId: (row: Row) => string,
) {
  const definitions = useMemo(
    () =>
      columns.map(({ id, header }) => ({ id, header, accessorFn: (row: Row) => row })) as ColumnDef<
        typeof features,
        Row & object
      >[],
    [columns],
  )
  return useTable({
    features,
    columns: definitions,
    data: rows as (Row & object)[],
    getRowId: (row) => rowId(row),
  })
}

/** The pointer is over it, or it is scrolled away from its beginning. */
function isBeingRead(region: HTMLElement | null): boolean {
  return region !== null && (region.matches(':hover') || region.getBoundingClientRect().top < 0)
}

/** Rows that are there change in place; new ones wait while somebody reads or selects. */
function useSteadyRows<Row>(
  fresh: readonly Row[],
  rowId: (row: Row) => string,
  region: React.RefObject<HTMLElement | null>,
  isSelecting: boolean,
): { readonly rows: readonly Row[]; readonly waiting: number; readonly release: () => void } {
  const shown = useRef<readonly Row[]>(fresh)
  const [, redraw] = useState(0)
  const known = new Set(shown.current.map(rowId))
  const firstKnown = fresh.findIndex((row) => known.has(rowId(row)))
  const isHeld = firstKnown > 0 && (isSelecting || isBeingRead(region.current))
  if (!isHeld) shown.current = fresh
  const rows = isHeld ? fresh.slice(firstKnown) : fresh
  return {
    rows,
    waiting: isHeld ? firstKnown : 0,
    release: () => {
      shown.current = fresh
      redraw((count) => count + 1)
    },
  }
}

function useOffset(region: React.RefObject<HTMLElement | null>): number {
  const [offset, setOffset] = useState(0)
  useLayoutEffect(() => {
    const top = (region.current?.getBoundingClientRect().top ?? 0) + window.scrollY
    if (Math.abs(top - offset) > 1) setOffset(top)
  })
  return offset
}

interface CursorActions<Row> {
  readonly onOpen: ((row: Row) => void) | undefined
  readonly selection: Selection | undefined
  readonly scrollTo: (index: number) => void
}

function useCursor<Row>(
  rows: readonly Row[],
  rowId: (row: Row) => string,
  region: React.RefObject<HTMLElement | null>,
  actions: CursorActions<Row>,
) {
  const [id, setId] = useState<string | null>(null)
  const anchor = useRef<string | null>(null)
  const extendTo = (to: string): void => {
    const from = rows.findIndex((row) => rowId(row) === (anchor.current ?? id ?? to))
    const end = rows.findIndex((row) => rowId(row) === to)
    const [first, last] = from < end ? [from, end] : [end, from]
    for (const row of rows.slice(Math.max(0, first), last + 1)) actions.selection?.toggle(rowId(row), true)
  }
  const latest = useRef({ rows, id, actions, extendTo })
  latest.current = { rows, id, actions, extendTo }
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return
      if (isTyping(event.target) || document.querySelector('[role=dialog], [role=alertdialog]') !== null)
        return
      // With two tables on a page the keys are the last one's.
      if ([...document.querySelectorAll('[data-table]')].at(-1) !== region.current) return
      const { rows, id, actions, extendTo } = latest.current
      const at = rows.findIndex((row) => rowId(row) === id)
      const move = (to: number): void => {
        const row = rows[Math.max(0, Math.min(rows.length - 1, to))]
        if (row === undefined) return
        setId(rowId(row))
        actions.scrollTo(rows.indexOf(row))
      }
      const isSingleOn = preferences().hasSingleKeys
      const isInside = region.current?.contains(event.target as Node) ?? false
      if ((isSingleOn && event.key === 'j') || (isInside && event.key === 'ArrowDown')) move(at + 1)
      else if ((isSingleOn && event.key === 'k') || (isInside && event.key === 'ArrowUp')) move(at - 1)
      else if (
        event.key === 'Enter' &&
        at >= 0 &&
        (event.target === region.current || event.target === document.body)
      )
        actions.onOpen?.(rows[at] as Row)
      else if (isSingleOn && event.key.toLowerCase() === 'x' && at >= 0 && actions.selection !== undefined) {
        const current = rowId(rows[at] as Row)
        if (event.shiftKey) extendTo(current)
        else {
          actions.selection.toggle(current, !actions.selection.ids.has(current))
          anchor.current = current
        }
      } else if (isSingleOn && event.key === 'a' && actions.selection !== undefined)
        actions.selection.set(rows.map(rowId))
      else if (event.key === 'Escape') actions.selection?.set([])
      else return
      event.preventDefault()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [region, rowId])
  return {
    id,
    extendTo,
    setId: (next: string) => {
      setId(next)
      anchor.current = next
    },
  }
}
