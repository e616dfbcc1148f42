import type { ReactNode } from 'react'

/** Where a column goes on a phone, where a row is two lines: what it is and its state, then the numbers that matter. */
export type PhonePlace = 'title' | 'aside' | 'detail' | 'hidden'

export interface Column<Row> {
  readonly id: string
  readonly header: string
  readonly cell: (row: Row) => ReactNode
  readonly isNumber?: boolean
  /** Left out: hidden. */
  readonly phone?: PhonePlace
  /** On a phone it is understood without its header. */
  readonly isPlain?: boolean
}
