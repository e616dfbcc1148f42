import { randomBytes } from 'node:crypto'

export const maxPayloadDepth = 1000

const jsonNumber = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?$/
const maxExactDigits = 15
const maxWholeDigits = 131_072
const maxFractionDigits = 16_383
/** Each such number is copied several times: 140,000 of them in 1 MB took 250 ms (measured), this many take 20. */
export const maxInexactNumbers = 10_000
/** Smaller doubles have fewer digits, down to one. */
const minExactDouble = 2.2250738585072014e-308

/**
 * Prefix of the digits of a number that is kept as text until it is written again. It is random, so that no payload can
 * contain it, and its characters are the same at any level of quoting.
 */
const mark = `exact${randomBytes(12).toString('hex')}n`
/**
 * A marked number as a value, also inside JSON in a string. A field's name keeps its quotes. A match starts only at the first of
 * several backslashes: trying each of a long series would take minutes.
 */
const markedValue = new RegExp(`(?<!\\\\)(\\\\*")${mark}(-?\\d[\\d.eE+-]*)\\1(?!:)`, 'g')

export type PayloadErrorCode = 'payload_invalid_json' | 'payload_too_deep' | 'payload_too_many_digits'

export class PayloadError extends Error {
  readonly code: PayloadErrorCode

  constructor(code: PayloadErrorCode, message: string) {
    super(message)
    this.name = 'PayloadError'
    this.code = code
  }
}

/**
 * `JSON.parse` that loses no digit: a number that a double can't represent is kept as marked text and written unchanged by `writeExactJson`.
 * Parsing every payload in JavaScript would cost ten times as much, so the text is only rewritten if a number in it needs that.
 */
export function parseExactJson(text: string): unknown {
  const exact = markExactNumbers(text)
  try {
    return JSON.parse(exact) as unknown
  } catch {
    throw new PayloadError(
      'payload_invalid_json',
      'The payload is not valid JSON, so no value can be read from it.',
    )
  }
}

/** For display: JSON that is nested too deeply is parsed by `JSON.parse` alone. */
export function parseJsonToShow(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch {
    return JSON.parse(text) as unknown
  }
}

export function writeExactJson(value: unknown): string {
  return restoreExactNumbers(JSON.stringify(value))
}

/** The original digits of a number, if `value` is a marked number. */
export function exactNumberText(value: string): string | null {
  return value.startsWith(mark) ? value.slice(mark.length) : null
}

/** Returns the same JSON with every number that a double can't represent as marked text. Throws if it is nested too deeply. */
export function markExactNumbers(json: string): string {
  let marked = ''
  let end = 0
  for (const [from, to] of inexactNumbers(json)) {
    marked += `${json.slice(end, from)}"${mark}${json.slice(from, to)}"`
    end = to
  }
  return end === 0 ? json : marked + json.slice(end)
}

/** Reverts `markExactNumbers`, wherever the marked text is. */
export function restoreExactNumbers(json: string): string {
  return json.includes(mark) ? json.replace(markedValue, '$2').replaceAll(mark, '') : json
}

/**
 * Whether the JSON has a number outside the range of `numeric`: more than 131,072 digits before the decimal point or 16,383 after it. A filter or a
 * search in the payload would fail on it later, and acceptance must not depend on whether there is a filter.
 */
export function hasUnstorableNumber(json: string): boolean {
  return inexactNumbers(json).some(([from, to]) => isBeyondNumeric(json.slice(from, to)))
}

function isBeyondNumeric(token: string): boolean {
  const [mantissa = '', exponentText = '0'] = token.toLowerCase().split('e')
  const [whole = '', fraction = ''] = mantissa.replace('-', '').split('.')
  const exponent = Number(exponentText)
  return whole.length + exponent > maxWholeDigits || fraction.length - exponent > maxFractionDigits
}

/** A token that isn't a JSON number is left for the parser to reject. */
function isInexact(token: string): boolean {
  return !survivesAsDouble(token) && jsonNumber.test(token)
}

function survivesAsDouble(token: string): boolean {
  const value = Number(token)
  if (!Number.isFinite(value)) return false
  const isNormal = Math.abs(value) >= minExactDouble
  if (isNormal && token.length <= maxExactDigits) return true
  const [mantissa = ''] = token.split(/[eE]/)
  const digits = mantissa.replace(/[-.]/g, '').replace(/^0+/, '')
  if (value === 0) return digits === ''
  return (isNormal && digits.length <= maxExactDigits) || String(value) === token
}

/**
 * Finds the numbers that have more digits than a double. It runs on every payload, so it is one pass that skips strings. The same pass refuses deep
 * nesting: `JSON.stringify` recurses, and the depth at which it overflows depends on the current stack. A fixed limit fails the same way each time.
 */
function inexactNumbers(text: string): (readonly [from: number, to: number])[] {
  const found: (readonly [number, number])[] = []
  let depth = 0
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if (code === quote) at = endOfString(text, at)
    else if (code >= zero && code <= nine) {
      const start = at
      while (isInNumber(text.charCodeAt(at + 1))) at += 1
      if (at - start >= maxExactDigits || hasExponent(text, start, at)) {
        const from = text.charCodeAt(start - 1) === minus ? start - 1 : start
        if (isInexact(text.slice(from, at + 1))) found.push([from, at + 1])
        if (found.length > maxInexactNumbers) throw tooManyDigits()
      }
    } else if (code === openBrace || code === openBracket) {
      depth += 1
      if (depth > maxPayloadDepth) throw tooDeep()
    } else if (code === closeBrace || code === closeBracket) depth -= 1
  }
  return found
}

/** Digits, the decimal point, and the parts of an exponent. */
function isInNumber(code: number): boolean {
  return (code >= zero && code <= nine) || code === dot || isExponent(code) || code === plus || code === minus
}

function isExponent(code: number): boolean {
  return code === lowerE || code === upperE
}

function hasExponent(text: string, start: number, end: number): boolean {
  for (let at = start; at < end; at += 1) if (isExponent(text.charCodeAt(at))) return true
  return false
}

function tooManyDigits(): PayloadError {
  return new PayloadError(
    'payload_too_many_digits',
    `The payload has more than ${maxInexactNumbers} numbers that do not fit into a 64-bit double. Send such numbers as text.`,
  )
}

function tooDeep(): PayloadError {
  return new PayloadError(
    'payload_too_deep',
    `The payload is nested deeper than ${maxPayloadDepth} levels. Send it without a transform, or flatten it.`,
  )
}

const quote = 0x22
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d
const backslash = 0x5c
const zero = 0x30
const nine = 0x39
const dot = 0x2e
const plus = 0x2b
const minus = 0x2d
const lowerE = 0x65
const upperE = 0x45

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
