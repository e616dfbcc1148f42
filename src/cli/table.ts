import { stripVTControlCharacters } from 'node:util'

export interface Column<Row> {
  readonly title: string
  readonly isNumber?: boolean
  readonly value: (row: Row) => string
}

const gap = '  '

/**
 * Rows in aligned columns. A cell may be coloured; control characters of its own are shown, not obeyed.
 *
 * @example formatTable([{ title: 'NAME', value: (row) => row.name }], [{ name: 'crm' }]) // 'NAME\ncrm'
 */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[]): string {
  const cells = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ value }) => value(row))),
  ]
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => widthOf(line[index] ?? ''))))
  return cells
    .map((line) =>
      line
        .map((cell, index) => {
          const space = ' '.repeat((widths[index] ?? 0) - widthOf(cell))
          return columns[index]?.isNumber === true ? space + cell : cell + space
        })
        .join(gap)
        .trimEnd(),
    )
    .join('\n')
}

// oxlint-disable-next-line no-control-regex -- colours are made of them
const colour = /(\u001b\[\d+m)/

/** What a terminal would wrap ends in `…` instead, in the colour it had. */
export function cutLine(line: string, width: number): string {
  if (widthOf(line) <= width) return line
  let room = Math.max(0, width - 1)
  const kept = line.split(colour).map((part, index) => {
    if (index % 2 === 1) return part
    const shown = Array.from(part).slice(0, room)
    room -= shown.length
    return shown.join('')
  })
  return `${kept.join('')}…`
}

function widthOf(cell: string): number {
  return Array.from(stripVTControlCharacters(cell)).length
}

/** Text that came from outside, safe to print: a receiver must not be able to move the cursor. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
