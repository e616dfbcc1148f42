import { stripVTControlCharacters } from 'node:util'

export interface Column<Row> {
  readonly title: string
  readonly isNumber?: boolean
  readonly value: (row: Row) => string
  /** Is truncated with `…` if the terminal is too narrow. Not for ids: users paste them into the next command. */
  readonly canShrink?: boolean
  /** Is omitted if truncating isn't enough, the rightmost such column first. */
  readonly isExtra?: boolean
}

const gap = '  '
/** A column isn't truncated below this, nor below its title. */
const minShrunkWidth = 10

/**
 * Rows in aligned columns, no wider than `width` if possible (0: no limit). A cell may be coloured; its own control characters are escaped.
 *
 * @example formatTable([{ title: 'NAME', value: (row) => row.name }], [{ name: 'crm' }]) // 'NAME\ncrm'
 */
export function formatTable<Row>(columns: readonly Column<Row>[], rows: readonly Row[], width = 0): string {
  const cells = [
    columns.map(({ title }) => title),
    ...rows.map((row) => columns.map(({ value }) => value(row))),
  ]
  const natural = columns.map((_, index) => Math.max(...cells.map((line) => widthOf(line[index] ?? ''))))
  const widths = width === 0 ? natural : fit(columns, natural, width)
  return cells.map((line) => formatLine(columns, widths, line, width)).join('\n')
}

/** Undefined: the column is omitted. */
type Widths = readonly (number | undefined)[]

function formatLine<Row>(
  columns: readonly Column<Row>[],
  widths: Widths,
  line: readonly string[],
  width: number,
): string {
  const shown = line.flatMap((cell, index) => {
    const room = widths[index]
    if (room === undefined) return []
    const cut = width === 0 ? cell : cutLine(cell, room)
    const space = ' '.repeat(room - widthOf(cut))
    return [columns[index]?.isNumber === true ? space + cut : cut + space]
  })
  const text = shown.join(gap).trimEnd()
  return width === 0 ? text : cutLine(text, width)
}

/** Computes column widths: the widest column that can shrink is truncated first; extra columns are omitted if that isn't enough. */
function fit<Row>(columns: readonly Column<Row>[], natural: readonly number[], width: number): Widths {
  const kept = columns.map(() => true)
  for (;;) {
    const widths = shrink(columns, natural, kept, width)
    if (totalOf(widths) <= width) return widths
    const extra = columns.findLastIndex((column, index) => column.isExtra === true && kept[index] === true)
    if (extra === -1) return widths
    kept[extra] = false
  }
}

function shrink<Row>(
  columns: readonly Column<Row>[],
  natural: readonly number[],
  kept: readonly boolean[],
  width: number,
): Widths {
  const widths = natural.map((each, index) => (kept[index] === true ? each : undefined))
  let excess = totalOf(widths) - width
  for (; excess > 0; excess -= 1) {
    let widest = -1
    columns.forEach(({ canShrink, title }, index) => {
      const room = widths[index] ?? 0
      if (canShrink !== true || room <= Math.max(minShrunkWidth, title.length)) return
      if (widest === -1 || room > (widths[widest] ?? 0)) widest = index
    })
    if (widest === -1) break
    widths[widest] = (widths[widest] ?? 0) - 1
  }
  return widths
}

function totalOf(widths: Widths): number {
  const shown = widths.filter((each) => each !== undefined)
  return shown.reduce((total, each) => total + each, 0) + gap.length * Math.max(0, shown.length - 1)
}

// oxlint-disable-next-line no-control-regex -- colours are made of them
const colour = /(\u001b\[\d+m)/

/** Truncates a line that the terminal would wrap with `…`, and keeps its colour. */
export function cutLine(line: string, width: number): string {
  if (line.length <= width || widthOf(line) <= width) return line
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

/** Makes external text safe to print: a receiver must not be able to move the cursor. */
export function printable(text: string): string {
  // oxlint-disable-next-line no-control-regex -- control characters are what this is about
  return text.replace(/[\u0000-\u001f\u007f-\u009f]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
  })
}
