import { type ColumnDef, tableFeatures, useTable } from '@tanstack/react-table'
import { useWindowVirtualizer, type Virtualizer } from '@tanstack/react-virtual'
import {
  memo,
  type ReactNode,
  useCallback,
  useEffect,
  useLayoutEffect,
  useMemo,
  useRef,
  useState,
} from 'react'
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
  const cellIds = useCellIds(columns)
  const offset = useOffset(region, rows.length > 0)
  // The same function as long as the rows are the same: another one would measure all of them anew.
  const getItemKey = useCallback((index: number) => rowId(rows[index] as Row), [rows, rowId])
  const virtualizer = useWindowVirtualizer<HTMLTableRowElement>({
    count: rows.length,
    estimateSize: () => rowHeight,
    overscan,
    scrollMargin: offset,
    getItemKey,
    measureElement: measureLater,
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

interface TableRowProps<Row> {
  readonly row: Row
  readonly id: string
  readonly index: number
  readonly columns: readonly Column<Row>[]
  readonly cellIds: readonly string[]
  readonly measure: (element: HTMLTableRowElement | null) => void
  readonly isCursor: boolean
  /** Null: rows of this table can't be selected. */
  readonly isSelected: boolean | null
  readonly path: string | undefined
  readonly onPress: (id: string) => void
  readonly onTick: (id: string, isOn: boolean, isExtending: boolean) => void
}

/** Drawn again only when something of its own changes: while somebody scrolls, most rows stay as they are. */
const TableRow = memo(function TableRow<Row>(props: TableRowProps<Row>) {
  const { row, id, index, columns, cellIds, measure, isCursor, isSelected, path, onPress, onTick } = props
  return (
    <tr
      ref={measure}
      data-index={index}
      aria-rowindex={index + 2}
      {...(isSelected !== null && { 'aria-selected': isSelected })}
      className={isCursor ? 'cursor' : ''}
      onMouseDown={() => onPress(id)}
      {...(path !== undefined && { 'data-path': path })}
    >
      {isSelected !== null && (
        <td className="phone-check">
          <input
            type="checkbox"
            className="tick"
            aria-label={`Select ${id}`}
            checked={isSelected}
            onChange={({ target, nativeEvent }) =>
              onTick(id, target.checked, (nativeEvent as MouseEvent).shiftKey)
            }
          />
        </td>
      )}
      {columns.map((column, place) => {
        const phone = column.phone ?? 'hidden'
        return (
          <td
            key={cellIds[place]}
            className={`phone-${phone}${column.isNumber === true ? ' number' : ''}`}
            {...(phone === 'detail' && { 'data-label': column.header })}
          >
            {column.cell(row)}
          </td>
        )
      })}
    </tr>
  )
}) as <Row>(props: TableRowProps<Row>) => ReactNode

/** A row is as high as most until the browser has told: to ask at once would lay the page out for each new row. */
function measureLater(
  element: HTMLTableRowElement,
  entry: ResizeObserverEntry | undefined,
  virtualizer: Virtualizer<Window, HTMLTableRowElement>,
): number {
  const [box] = entry?.borderBoxSize ?? []
  if (box !== undefined) return Math.round(box.blockSize)
  const index = Number(element.dataset['index'])
  return virtualizer.measurementsCache[index]?.size ?? rowHeight
}

/** The columns as the table library has them. Rows aren't made into its model: a hundred thousand of them would be kept twice. */
function useCellIds<Row>(columns: readonly Column<Row>[]): readonly string[] {
  const definitions = useMemo(
    () =>
      columns.map(({ id, header }) => ({ id, header, accessorFn: (row: Row) => row })) as ColumnDef<
        typeof features,
        Row & object
      >[],
    [columns],
  )
  const table = useTable({ features, columns: definitions, data: noRows as (Row & object)[] })
  return table.getAllLeafColumns().map(({ id }) => id)
}

const noRows: readonly object[] = []

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
  // Of the same rows none is new, and to look through them would take longer than a frame.
  const newRows = useMemo(() => {
    if (fresh === shown.current) return 0
    const known = new Set(shown.current.map(rowId))
    return fresh.findIndex((row) => known.has(rowId(row)))
    // oxlint-disable-next-line react/exhaustive-deps -- a function that is written anew each time says the same
  }, [fresh])
  const isHeld = newRows > 0 && fresh !== shown.current && (isSelecting || isBeingRead(region.current))
  if (!isHeld) shown.current = fresh
  const rows = useMemo(() => (isHeld ? fresh.slice(newRows) : fresh), [isHeld, fresh, newRows])
  return {
    rows,
    waiting: isHeld ? newRows : 0,
    release: () => {
      shown.current = fresh
      redraw((count) => count + 1)
    },
  }
}

/** How far from the top of the page the table begins. Looked at when the page changes its height, not with each step of scrolling. */
function useOffset(region: React.RefObject<HTMLElement | null>, isShown: boolean): number {
  const [offset, setOffset] = useState(0)
  useLayoutEffect(() => {
    if (!isShown) return undefined
    const measure = (): void => {
      const top = (region.current?.getBoundingClientRect().top ?? 0) + window.scrollY
      setOffset((before) => (Math.abs(top - before) > 1 ? top : before))
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [region, isShown])
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
  const press = useCallback((next: string) => {
    setId(next)
    anchor.current = next
  }, [])
  const tick = useCallback(
    (next: string, isOn: boolean, isExtending: boolean) => {
      if (isExtending) latest.current.extendTo(next)
      else latest.current.actions.selection?.toggle(next, isOn)
      press(next)
    },
    [press],
  )
  return { id, press, tick }
}
