import type { Virtualizer } from '@tanstack/react-virtual'
import { type RefObject, useLayoutEffect, useState } from 'react'

const rowHeight = 34

/**
 * How far from the top of the page the table begins, and how high most of its rows are: where each of a hundred thousand is higher than was assumed, every
 * step of scrolling would move all that follow. Looked at when the page changes its size, not with each step of scrolling.
 */
export function useRowHeights(
  region: RefObject<HTMLElement | null>,
  isShown: boolean,
): { readonly offset: number; readonly height: number } {
  const [place, setPlace] = useState({ offset: 0, height: rowHeight })
  useLayoutEffect(() => {
    if (!isShown) return undefined
    let width = 0
    let height = rowHeight
    const measure = (): void => {
      const offset = (region.current?.getBoundingClientRect().top ?? 0) + window.scrollY
      // Not while somebody scrolls past rows of several heights.
      if (region.current !== null && region.current.clientWidth !== width) {
        width = region.current.clientWidth
        height = usualHeight(region.current)
      }
      setPlace((before) =>
        Math.abs(offset - before.offset) > 1 || height !== before.height ? { offset, height } : before,
      )
    }
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(document.body)
    return () => observer.disconnect()
  }, [region, isShown])
  return place
}

function usualHeight(region: HTMLElement): number {
  const rows = [...region.querySelectorAll('tr[data-index]')]
  const heights = rows.map((row) => Math.round(row.getBoundingClientRect().height)).sort((a, b) => a - b)
  return heights[Math.floor(heights.length / 2)] ?? rowHeight
}

/** A row is as high as most until the browser has told: to ask at once would lay the page out for each new row. */
export function measureLater(
  element: HTMLTableRowElement,
  entry: ResizeObserverEntry | undefined,
  virtualizer: Virtualizer<Window, HTMLTableRowElement>,
): number {
  const [box] = entry?.borderBoxSize ?? []
  if (box !== undefined) return Math.round(box.blockSize)
  const index = Number(element.dataset['index'])
  return virtualizer.measurementsCache[index]?.size ?? virtualizer.options.estimateSize(index)
}
