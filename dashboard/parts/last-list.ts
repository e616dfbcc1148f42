import { useEffect } from 'react'
import { basePath } from '../api/session.ts'

interface LastList {
  /** `/events` */
  readonly section: string
  readonly idAt: (place: number) => string | undefined
  readonly placeOf: (id: string) => number
}

let last: LastList | null = null

/** Remembers what a list shows, so that keys go through it from the page of one of its rows. */
export function useNoteList<Row>(rows: readonly Row[], rowId: (row: Row) => string): void {
  useEffect(() => {
    const section = `/${location.pathname.slice(basePath.length)}`
    if (!/^\/[^/]+$/.test(section)) return
    last = {
      section,
      idAt: (place) => {
        const row = rows[place]
        return row === undefined ? undefined : rowId(row)
      },
      placeOf: (id) => rows.findIndex((row) => rowId(row) === id),
    }
  }, [rows, rowId])
}

/** The row before or after the one whose page is open; null: there is none. */
export function neighbourOf(path: string, step: 1 | -1): string | null {
  const [, section = '', id = ''] = /^(\/[^/]+)\/([^/]+)$/.exec(path) ?? []
  if (last === null || last.section !== section) return null
  const place = last.placeOf(decodeURIComponent(id))
  const next = place === -1 ? undefined : last.idAt(place + step)
  return next === undefined ? null : `${section}/${encodeURIComponent(next)}`
}
