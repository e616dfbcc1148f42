import { HoldfastError } from '../core/errors.ts'
import { hasUnstorableNumber, PayloadError } from '../transforms/exact-json.ts'
import { RawJson } from './raw-json.ts'

/** An escaped NUL: a backslash before `u0000` that isn't itself escaped. */
const escapedNul = /(?<!\\)(?:\\\\)*\\u0000/

/**
 * A complete surrogate pair in escapes, as Python's `json.dumps` writes an emoji, or half of one (the group). An escaped backslash begins no escape.
 */
const surrogates = /\\(?:\\|ud[89ab][\da-f]{2}\\ud[c-f][\da-f]{2}|(ud[89a-f]))/gi

/** Encodes the payload as JSON text. Throws for values that PostgreSQL can't store, with their position in the batch. */
export function encodePayload(payload: unknown, index: number): string {
  let body: string | undefined
  try {
    body = payload instanceof RawJson ? payload.text : JSON.stringify(payload)
  } catch (error) {
    throw refuse(index, `can't be written as JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (body === undefined) throw refuse(index, 'is undefined; send null for an empty payload')
  if (body.includes('\\u0000') && escapedNul.test(body)) {
    throw refuse(index, 'contains a NUL character, which PostgreSQL cannot store; remove or encode it')
  }
  // Numbers of JavaScript always fit.
  if (payload instanceof RawJson) refuseNumbers(body, index)
  return body
}

/**
 * Encodes the payload of an event. Also refuses half surrogate pairs: filters read the payload as jsonb, which can't hold them, and acceptance must
 * not depend on whether a route has a filter.
 */
export function encodeEventPayload(payload: unknown, index: number): string {
  const body = encodePayload(payload, index)
  if (!hasHalfPair(body)) return body
  throw refuse(index, 'contains half a surrogate pair, which PostgreSQL cannot store; remove or encode it')
}

function hasHalfPair(json: string): boolean {
  if (!json.includes('\\ud') && !json.includes('\\uD')) return false
  for (const [, half] of json.matchAll(surrogates)) if (half !== undefined) return true
  return false
}

function refuseNumbers(body: string, index: number): void {
  try {
    if (!hasUnstorableNumber(body)) return
  } catch (error) {
    if (error instanceof PayloadError) throw refuse(index, `is invalid. ${error.message.replace(/\.$/, '')}`)
    throw error
  }
  throw refuse(index, 'contains a number that PostgreSQL cannot store; send it as text')
}

function refuse(index: number, what: string): HoldfastError {
  return new HoldfastError('invalid_payload', `The payload of message ${index + 1} ${what}.`, { index })
}
