import { randomBytes } from 'node:crypto'

export const maxPayloadDepth = 1000

/** Numbers that a double can't be trusted with: sixteen digits or more, or an exponent. */
const riskyNumber = /[\d.]{16}|\d[eE]/
const stringOrNumber = /"[^"\\]*(?:\\.[^"\\]*)*"|-?\d[\d.eE+-]*/g

/**
 * Stands in for a number until it is written again. Random, so that no payload can contain it: text that began with it would be
 * written without its quotes.
 */
const mark = `\u0000${randomBytes(12).toString('hex')}:`
const writtenMark = JSON.stringify(mark).slice(1, -1)
const writtenNumber = new RegExp(`"${writtenMark.replaceAll('\\', '\\\\')}([^"]+)"`, 'g')

export class PayloadError extends Error {
  readonly code: 'payload_invalid_json' | 'payload_too_deep'

  constructor(code: 'payload_invalid_json' | 'payload_too_deep', message: string) {
    super(message)
    this.name = 'PayloadError'
    this.code = code
  }
}

/**
 * `JSON.parse` that loses no digit: what a double can't hold is kept as its own text and written by `writeExactJson` as it came.
 * Reading every payload by hand would cost ten times as much, so the text is only rewritten when a number in it needs that.
 */
export function parseExactJson(text: string): unknown {
  refuseDeepNesting(text)
  const source = riskyNumber.test(text) ? text.replace(stringOrNumber, keepRisky) : text
  try {
    return JSON.parse(source) as unknown
  } catch {
    throw new PayloadError(
      'payload_invalid_json',
      'The payload is not valid JSON, so nothing can be taken from it.',
    )
  }
}

export function writeExactJson(value: unknown): string {
  const text = JSON.stringify(value)
  return text.includes(writtenMark) ? text.replace(writtenNumber, '$1') : text
}

/** A number's digits as they came, when `value` is one of those that were kept as text. */
export function exactNumberText(value: string): string | null {
  return value.startsWith(mark) ? value.slice(mark.length) : null
}

function keepRisky(token: string): string {
  return token.startsWith('"') || !riskyNumber.test(token) ? token : `"${writtenMark}${token}"`
}

/** `JSON.stringify` recurses, and where it overflows depends on the stack of the moment. A fixed limit fails the same way each time. */
export function refuseDeepNesting(text: string): void {
  if (text.length <= 2 * maxPayloadDepth) return
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at)
    else if (code === openBrace || code === openBracket) {
      depth += 1
      if (depth > maxPayloadDepth) {
        throw new PayloadError(
          'payload_too_deep',
          `The payload is nested deeper than ${maxPayloadDepth} levels. Send it without a transform, or flatten it.`,
        )
      }
    } else if (code === closeBrace || code === closeBracket) depth -= 1
  }
}

const quote = 0x22
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const backslash = 0x5c

function endOfString(text: string, start: number): number {
  let end = text.indexOf('"', start + 1)
  while (end !== -1) {
    let slashes = 0
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes += 1
    if (slashes % 2 === 0) return end
    end = text.indexOf('"', end + 1)
  }
  return text.length
}
