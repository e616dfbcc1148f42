import type { Output } from './output.ts'
import { formatTable, printable } from './table.ts'
import { formatBytes, formatDuration, formatRelative } from './units.ts'

export type Field = readonly [name: string, value: string]

/** Names and values, one per line; empty values are omitted. */
export function formatFields(output: Output, fields: readonly Field[]): string {
  const shown = fields.filter(([, value]) => value !== '')
  const columns = [
    { title: '', value: ([name]: Field) => output.paintData('dim', name) },
    { title: '', value: ([, value]: Field) => value },
  ]
  return formatTable(columns, shown).trimStart()
}

/** Every field of a response under its own name: times also relative to now, `…Ms` and `…Bytes` with their unit. */
export function fieldsOf(value: object, nowMs: number = Date.now()): Field[] {
  return Object.entries(value).map(([name, each]) => {
    if (each instanceof Date) return [name, `${each.toISOString()} (${formatRelative(each, nowMs)})`]
    if (typeof each === 'number' && name.endsWith('Ms')) return [name.slice(0, -2), formatDuration(each)]
    if (typeof each === 'number' && name.endsWith('Bytes')) return [name.slice(0, -5), formatBytes(each)]
    return [name, textOf(each)]
  })
}

export function textOf(value: unknown): string {
  if (value === null || value === undefined) return ''
  if (value instanceof Date) return value.toISOString()
  if (Array.isArray(value) && value.every((each) => typeof each === 'string'))
    return printable(value.join(', '))
  return printable(typeof value === 'string' ? value : JSON.stringify(value))
}
