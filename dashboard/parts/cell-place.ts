import type { Column } from './column.ts'

/** The attributes of a cell: where it goes on a phone, under which name, and how it is aligned. A column without a header has the row's actions. */
export function cellPlace<Row>({ header, isNumber, isPlain = false, phone = 'hidden' }: Column<Row>) {
  const place = phone === 'detail' && header === '' ? 'actions' : phone
  return {
    className: `phone-${place}${isNumber === true ? ' number' : ''}`,
    ...(place === 'detail' && !isPlain && { 'data-label': header }),
  }
}
