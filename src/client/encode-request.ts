import type { Operation } from '../contract/operation.ts'
import { HoldfastError } from '../core/errors.ts'
import { RawJson } from '../sdk/raw-json.ts'
import type { PlainInput } from './call-input.ts'

/** The URL of a call, with its parameters and query. */
export function encodeUrl(
  base: string,
  operation: Operation,
  { params = {}, query = {} }: PlainInput,
): string {
  const path = operation.path.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = params[name]
    // An empty parameter would be another call: `DELETE /v1/endpoints/` names no endpoint.
    if (typeof value === 'string' && value !== '' && value !== '.' && value !== '..') {
      return encodeURIComponent(value)
    }
    throw new HoldfastError('invalid_request', `The parameter "${name}" of ${operation.id} is missing.`, {
      problems: [{ path: name, message: 'must be text that is not empty' }],
    })
  })
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) {
      if (each !== undefined && each !== null) search.append(name, encodeValue(each))
    }
  }
  const text = search.toString()
  return `${base}${path}${text === '' ? '' : `?${text}`}`
}

function encodeValue(value: unknown): string {
  if (value instanceof Date) return value.toISOString()
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/**
 * JSON text, in which a `RawJson` keeps all its digits. `JSON.stringify` can't write raw text on Node.js 20,
 * so an unguessable placeholder is replaced afterwards.
 */
export function encodeBody(body: unknown): string | undefined {
  const raw: string[] = []
  const mark = crypto.randomUUID()
  const text = JSON.stringify(body, (_, value: unknown) => {
    if (!(value instanceof RawJson)) return value
    raw.push(value.text)
    return `${mark}:${raw.length - 1}`
  })
  if (raw.length === 0) return text
  return text.replace(new RegExp(`"${mark}:(\\d+)"`, 'g'), (_, index: string) => raw[Number(index)] ?? 'null')
}
