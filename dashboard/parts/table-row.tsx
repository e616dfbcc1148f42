import { memo, type ReactNode } from 'react'
import { cellPlace } from './cell-place.ts'
import type { Column } from './column.ts'

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
export const TableRow = memo(function TableRow<Row>(props: TableRowProps<Row>) {
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
      {columns.map((column, place) => (
        <td key={cellIds[place]} {...cellPlace(column)}>
          {column.cell(row)}
        </td>
      ))}
    </tr>
  )
}) as <Row>(props: TableRowProps<Row>) => ReactNode
