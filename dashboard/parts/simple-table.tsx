import { cellPlace } from './cell-place.ts'
import type { Column } from './column.ts'
import { TableHead } from './table-head.tsx'

/** A table of a few rows, all of them in the document; a long list is a `DataTable`. */
export function SimpleTable<Row>({
  label,
  rows,
  columns,
  rowId,
}: {
  readonly label: string
  readonly rows: readonly Row[]
  readonly columns: readonly Column<Row>[]
  readonly rowId: (row: Row) => string
}) {
  return (
    <div className="scroll" tabIndex={0} role="region" aria-label={label}>
      <table className="table lists">
        <TableHead columns={columns} />
        <tbody>
          {rows.map((row) => (
            <tr key={rowId(row)}>
              {columns.map((column) => (
                <td key={column.id} {...cellPlace(column)}>
                  {column.cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
