import { HoldfastError } from '../core/errors.ts'
import { RawJson } from '../sdk/raw-json.ts'
import {
  markExactNumbers,
  maxPayloadDepth,
  PayloadError,
  parseExactJson,
  restoreExactNumbers,
} from '../transforms/exact-json.ts'

/** A JSON body and, if JavaScript would round some of its numbers, the same body with these numbers marked. */
export interface ParsedBody {
  readonly value: unknown
  readonly marked: unknown
}

/** Throws `invalid_json`. */
export function parseBody(text: string): ParsedBody {
  try {
    const markedText = markExactNumbers(text)
    const value: unknown = JSON.parse(text)
    return { value, marked: markedText === text ? undefined : JSON.parse(markedText) }
  } catch (error) {
    throw new HoldfastError('invalid_json', whyRefused(error), {}, error)
  }
}

function whyRefused(error: unknown): string {
  if (!(error instanceof PayloadError)) return `The body is not valid JSON: ${(error as Error).message}`
  // The error's own advice is about transforms.
  return error.code === 'payload_too_deep'
    ? `The body is nested deeper than ${maxPayloadDepth} levels: flatten it.`
    : error.message
}

/** A part of the body without rounded numbers: as JSON text if JavaScript would lose digits. */
export function exactPart(body: ParsedBody, pick: (value: never) => unknown): unknown {
  if (body.marked === undefined) return pick(body.value as never)
  const marked = JSON.stringify(pick(body.marked as never))
  return marked === undefined ? undefined : new RawJson(restoreExactNumbers(marked))
}

/** A message, run or schedule whose payload is returned with all stored digits. */
export function withExactPayload<Stored extends { readonly payloadText: string }>(stored: Stored) {
  return { ...stored, payload: new ExactPayload(stored.payloadText) }
}

/** Encodes a response as JSON text, with an `ExactPayload` unchanged. */
export function writeBody(value: unknown): string {
  return restoreExactNumbers(JSON.stringify(value))
}

/** A class with `toJSON`: a replacer function would be called for every part of every response, also of those without a payload. */
class ExactPayload {
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  /** JSON nested too deeply for `JSON.stringify`, which SQL accepts, is shown as text. */
  toJSON(): unknown {
    try {
      return parseExactJson(this.#text)
    } catch (error) {
      const isTooDeep = error instanceof PayloadError && error.code === 'payload_too_deep'
      return isTooDeep ? this.#text : (JSON.parse(this.#text) as unknown)
    }
  }
}
