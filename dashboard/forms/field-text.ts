import { formatCount } from '../parts/numbers.ts'
import {
  type Field,
  type HeaderRow,
  isObject,
  isStoredSecret,
  type Raw,
  type Settings,
  valueAt,
} from './field.ts'

/** What a control shows for what is saved. */
export function rawOf(field: Field, settings: Settings): Raw {
  const value = valueAt(settings, field.path)
  if (field.kind === 'headers') return headerRows(settings)
  if (field.kind === 'part') return isObject(value)
  if (field.kind === 'flag') return value === true
  if (field.isSecret === true && isStoredSecret(value)) return undefined
  if (value === undefined || value === null) return ''
  if (field.kind === 'list') return (value as readonly unknown[]).join(', ')
  if (field.kind === 'map') {
    return Object.entries(value)
      .map(([key, one]) => `${key}: ${String(one)}`)
      .join('\n')
  }
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function headerRows(settings: Settings): readonly HeaderRow[] {
  const plain = (valueAt(settings, 'config.plainHeaders') ?? []) as readonly string[]
  const names = new Set(plain.map((name) => name.toLowerCase()))
  return Object.entries((valueAt(settings, 'config.headers') ?? {}) as Record<string, unknown>).map(
    ([name, value]) => ({
      name,
      value: typeof value === 'string' ? value : null,
      isPlain: names.has(name.toLowerCase()),
    }),
  )
}

export type Read =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: string }

const right = (value: unknown): Read => ({ ok: true, value })
const wrong = (problem: string): Read => ({ ok: false, problem })

/** What a control says, or what is wrong with it and what to enter instead. */
export function readRaw(field: Omit<Field, 'path' | 'description'>, raw: Raw): Read {
  if (typeof raw === 'boolean') return right(raw)
  if (raw === undefined) return right({ isSet: true })
  if (typeof raw !== 'string') return readHeaders(raw)
  const text = raw.trim()
  if (text === '' && field.kind !== 'list' && field.kind !== 'map') {
    if (field.isNullable === true) return right(null)
    return field.isRequired === true ? wrong(adviceFor(field)) : right(undefined)
  }
  if (field.kind === 'integer' || field.kind === 'number') return readNumber(field, text)
  if (field.kind === 'list') return readList(field, text)
  return field.kind === 'map' ? readMap(field, text) : readText(field, text)
}

function readNumber(field: Omit<Field, 'path' | 'description'>, text: string): Read {
  const value = Number(text.replaceAll(/[ ,_](?=\d{3})/g, ''))
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = field
  const isRight = field.kind === 'integer' ? Number.isInteger(value) : Number.isFinite(value)
  return isRight && value >= minimum && value <= maximum ? right(value) : wrong(rangeOf(field))
}

/** What to enter in a field that is empty and may not be. */
export function adviceFor(field: Omit<Field, 'path' | 'description'>): string {
  return field.kind === 'integer' || field.kind === 'number' ? rangeOf(field) : 'Enter a value.'
}

function rangeOf({ minimum, maximum }: Pick<Field, 'minimum' | 'maximum'>): string {
  if (minimum === undefined || maximum === undefined) return 'Enter a number.'
  return `Enter ${minimum < 1 && minimum > 0 ? minimum : formatCount(minimum)} to ${formatCount(maximum)}.`
}

function readText(field: Omit<Field, 'path' | 'description'>, text: string): Read {
  const { maxLength, pattern } = field
  if (maxLength !== undefined && text.length > maxLength) {
    return wrong(`Enter at most ${formatCount(maxLength)} characters.`)
  }
  if (pattern !== undefined && !new RegExp(pattern, 'u').test(text)) {
    return wrong(pattern.startsWith('^[^\\s]') ? `“${text}” has a space.` : `“${text}” can't be used here.`)
  }
  return right(text)
}

function readList(field: Omit<Field, 'path' | 'description'>, text: string): Read {
  const { item, minItems = 0, maxItems = Number.POSITIVE_INFINITY } = field
  const parts = text
    .split(/[,\n]/)
    .map((part) => part.trim())
    .filter((part) => part !== '')
  if (parts.length < minItems) return wrong('Enter at least one.')
  if (parts.length > maxItems) return wrong(`Enter at most ${formatCount(maxItems)}.`)
  const values: unknown[] = []
  for (const part of parts) {
    const read = item === undefined ? right(part) : readRaw(item, part)
    if (!read.ok) return wrong(parts.length > 1 ? `${part}: ${read.problem}` : read.problem)
    values.push(read.value)
  }
  return right(values)
}

function readMap(field: Omit<Field, 'path' | 'description'>, text: string): Read {
  const entries: [string, unknown][] = []
  for (const line of text.split('\n')) {
    if (line.trim() === '') continue
    const [key = '', ...rest] = line.split(':')
    const value = rest.join(':').trim()
    if (value === '') return wrong(`Write a line as “409: success”, not “${line.trim()}”.`)
    const { choices } = field.item ?? {}
    if (choices !== undefined && !choices.includes(value)) {
      return wrong(`“${value}” isn't one of ${choices.join(', ')}.`)
    }
    entries.push([key.trim(), value])
  }
  return right(Object.fromEntries(entries))
}

function readHeaders(rows: readonly HeaderRow[]): Read {
  const names = new Set<string>()
  for (const { name, value } of rows) {
    if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name)) {
      return wrong(name === '' ? 'Enter the name of the header.' : `“${name}” isn't the name of a header.`)
    }
    if (names.has(name.toLowerCase())) return wrong(`${name} is there twice.`)
    if (value?.trim() === '') return wrong(`Enter the value of ${name}.`)
    names.add(name.toLowerCase())
  }
  return right(Object.fromEntries(rows.map(({ name, value }) => [name, value ?? { isSet: true }])))
}
