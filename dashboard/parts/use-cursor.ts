import { type RefObject, useCallback, useEffect, useRef, useState } from 'react'
import { preferences } from '../frame/preferences.ts'
import { isTyping } from '../frame/use-keys.ts'
import type { Selection } from './use-selection.ts'

interface CursorActions<Row> {
  readonly onOpen: ((row: Row) => void) | undefined
  readonly selection: Selection | undefined
  readonly scrollTo: (index: number) => void
}

/** A table as it is when a key is pressed. */
interface TableState<Row> extends CursorActions<Row> {
  readonly rows: readonly Row[]
  /** The row that the keys are at; -1: none. */
  readonly at: number
  readonly region: HTMLElement | null
  readonly moveTo: (index: number) => void
  readonly tickAt: (isExtending: boolean) => void
}

/** The row that the keys are at, and the keys themselves. */
export function useCursor<Row>(
  rows: readonly Row[],
  rowId: (row: Row) => string,
  region: RefObject<HTMLElement | null>,
  actions: CursorActions<Row>,
) {
  const [id, setId] = useState<string | null>(null)
  const anchor = useRef<string | null>(null)
  const press = useCallback((next: string) => {
    setId(next)
    anchor.current = next
  }, [])
  const indexOf = (wanted: string | null): number => rows.findIndex((row) => rowId(row) === wanted)
  const extendTo = (to: string): void => {
    const ends = [indexOf(anchor.current ?? id ?? to), indexOf(to)]
    const chosen = rows.slice(Math.max(0, Math.min(...ends)), Math.max(...ends) + 1)
    for (const row of chosen) actions.selection?.toggle(rowId(row), true)
  }
  const tick = (next: string, isOn: boolean, isExtending: boolean): void => {
    if (isExtending) extendTo(next)
    else actions.selection?.toggle(next, isOn)
  }
  const stateNow = (): TableState<Row> => ({
    ...actions,
    rows,
    at: indexOf(id),
    region: region.current,
    moveTo: (to) => {
      const index = Math.max(0, Math.min(rows.length - 1, to))
      const row = rows[index]
      if (row === undefined) return
      setId(rowId(row))
      actions.scrollTo(index)
    },
    tickAt: (isExtending) => {
      if (id === null) return
      tick(id, actions.selection?.ids.has(id) !== true, isExtending)
      if (!isExtending) anchor.current = id
    },
  })
  const latest = useRef({ stateNow, tick, rowId })
  latest.current = { stateNow, tick, rowId }
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if (!isForTable(event, region.current)) return
      const state = latest.current.stateNow()
      if (actOnKey(event, state, () => state.rows.map(latest.current.rowId))) event.preventDefault()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [region])
  const tickAndPress = useCallback(
    (next: string, isOn: boolean, isExtending: boolean) => {
      latest.current.tick(next, isOn, isExtending)
      press(next)
    },
    [press],
  )
  return { id, press, tick: tickAndPress }
}

/** Not while somebody types or a dialog is open. With two tables on a page the keys are the last one's. */
function isForTable(event: KeyboardEvent, region: HTMLElement | null): boolean {
  if (event.metaKey || event.ctrlKey || event.altKey || event.defaultPrevented) return false
  if (isTyping(event.target) || document.querySelector('[role=dialog], [role=alertdialog]') !== null)
    return false
  return [...document.querySelectorAll('[data-table]')].at(-1) === region
}

/** False: this key does nothing here. */
function actOnKey<Row>(
  event: KeyboardEvent,
  state: TableState<Row>,
  allIds: () => readonly string[],
): boolean {
  const { at, region, selection } = state
  const isSingleOn = preferences().hasSingleKeys
  const isInside = region?.contains(event.target as Node) ?? false
  const isOnTable = event.target === region || event.target === document.body
  if ((isSingleOn && event.key === 'j') || (isInside && event.key === 'ArrowDown')) state.moveTo(at + 1)
  else if ((isSingleOn && event.key === 'k') || (isInside && event.key === 'ArrowUp')) state.moveTo(at - 1)
  else if (event.key === 'Enter' && at >= 0 && isOnTable) state.onOpen?.(state.rows[at] as Row)
  else if (selection === undefined) return event.key === 'Escape'
  else if (isSingleOn && event.key.toLowerCase() === 'x' && at >= 0) state.tickAt(event.shiftKey)
  else if (isSingleOn && event.key === 'a') selection.set(allIds())
  else if (event.key === 'Escape') selection.set([])
  else return false
  return true
}
