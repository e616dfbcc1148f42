import { HoldfastError } from '../core/errors.ts'
import { hasUnstorableNumber, PayloadError } from '../transforms/exact-json.ts'
import { RawJson } from './raw-json.ts'

/** An escaped NUL: a backslash before `u0000` that isn't itself escaped. */
const escapedNul = /(?<!\\)(?:\\\\)*\\u0000/

/** The payload as JSON text. What PostgreSQL couldn't keep is refused here, with its place in the batch. */
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
  // JavaScript's own numbers always fit.
  if (payload instanceof RawJson) refuseNumbers(body, index)
  return body
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
