import type { Output } from './output.ts'
import { formatTable, printable } from './table.ts'

export type Field = readonly [name: string, value: string]

/** Names and values, one below the other; what is empty is left out. */
export function formatFields(output: Output, fields: readonly Field[]): string {
  const shown = fields.filter(([, value]) => value !== '')
  const columns = [
    { title: '', value: ([name]: Field) => output.paintData('dim', name) },
    { title: '', value: ([, value]: Field) => value },
  ]
  return formatTable(columns, shown).trimStart()
}

/** Every field of an answer, in its own words. */
export function fieldsOf(value: object): Field[] {
  return Object.entries(value).map(([name, each]) => [name, textOf(each)])
}

export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value) && value.every((each) => typeof each === 'string'))
    return printable(value.join(', '))
  return printable(typeof value === 'string' ? value : JSON.stringify(value))
}
