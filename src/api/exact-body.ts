import { HoldfastError } from '../core/errors.ts'
import type { StoredMessage } from '../sdk/events.ts'
import { RawJson } from '../sdk/raw-json.ts'
import {
  markExactNumbers,
  PayloadError,
  parseExactJson,
  refuseDeepNesting,
  restoreExactNumbers,
} from '../transforms/exact-json.ts'

/** A JSON body, and the same with its inexact numbers marked when it has any. */
export interface ParsedBody {
  readonly value: unknown
  readonly marked: unknown
}

/** Throws `invalid_json`. */
export function parseBody(text: string): ParsedBody {
  try {
    refuseDeepNesting(text)
    const value: unknown = JSON.parse(text)
    const markedText = markExactNumbers(text)
    return { value, marked: markedText === text ? undefined : JSON.parse(markedText) }
  } catch (error) {
    const why = error instanceof PayloadError ? error.message : (error as Error).message
    throw new HoldfastError('invalid_json', `The body is not JSON that can be read: ${why}`, {}, error)
  }
}

/** A part of the body as it came: as JSON text when JavaScript's numbers would lose digits of it. */
export function exactPart(body: ParsedBody, pick: (value: never) => unknown): unknown {
  if (body.marked === undefined) return pick(body.value as never)
  const marked = JSON.stringify(pick(body.marked as never))
  return marked === undefined ? undefined : new RawJson(restoreExactNumbers(marked))
}

/** A message whose payload is answered digit by digit as it is stored. */
export function exactMessage<Message extends StoredMessage>(message: Message) {
  return { ...message, payload: new RawJson(message.payloadText) }
}

/** JSON text of an answer, in which a `RawJson` stands as it is. */
export function writeBody(value: unknown): string {
  return restoreExactNumbers(JSON.stringify(value, (_name, part: unknown) => marked(part)))
}

/** What is nested too deep to be looked into is parsed as JavaScript does. */
function marked(part: unknown): unknown {
  if (!(part instanceof RawJson)) return part
  try {
    return parseExactJson(part.text)
  } catch {
    return JSON.parse(part.text) as unknown
  }
}
