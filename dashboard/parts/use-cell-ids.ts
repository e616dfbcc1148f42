import { type ColumnDef, tableFeatures, useTable } from '@tanstack/react-table'
import { useMemo } from 'react'
import type { Column } from './column.ts'

const features = tableFeatures({})

/** The columns as the table library has them. Rows aren't made into its model: a hundred thousand of them would be kept twice. */
export function useCellIds<Row>(columns: readonly Column<Row>[]): readonly string[] {
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
