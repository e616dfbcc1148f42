import { type RefObject, useMemo, useRef, useState } from 'react'

/** The pointer is over it, or it is scrolled away from its beginning. */
function isBeingRead(region: HTMLElement | null): boolean {
  return region !== null && (region.matches(':hover') || region.getBoundingClientRect().top < 0)
}

/** Rows that are there change in place; new ones wait while somebody reads or selects. */
export function useSteadyRows<Row>(
  fresh: readonly Row[],
  rowId: (row: Row) => string,
  region: RefObject<HTMLElement | null>,
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
