import type { Column } from './column.ts'

/** The names of the columns, and the box that selects every row where rows can be selected. */
export function TableHead<Row>({
  columns,
  ticks,
}: {
  readonly columns: readonly Column<Row>[]
  readonly ticks?: { readonly areAllOn: boolean; readonly onToggle: (isOn: boolean) => void }
}) {
  return (
    <thead>
      <tr>
        {ticks !== undefined && (
          <th scope="col">
            <input
              type="checkbox"
              className="tick"
              aria-label="Select all rows that are loaded"
              checked={ticks.areAllOn}
              onChange={({ target }) => ticks.onToggle(target.checked)}
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
  )
}
