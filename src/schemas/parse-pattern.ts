import { PatternError } from './pattern-error.ts'

export type PatternNode =
  | { readonly kind: 'empty' }
  | { readonly kind: 'character'; readonly matches: (codePoint: number) => boolean }
  | { readonly kind: 'assert'; readonly holds: (before: number, after: number) => boolean }
  | { readonly kind: 'sequence'; readonly parts: readonly PatternNode[] }
  | { readonly kind: 'choice'; readonly options: readonly PatternNode[] }
  | { readonly kind: 'repeat'; readonly part: PatternNode; readonly min: number; readonly max: number }

const maxPatternLength = 2000
const maxPatternDepth = 50
const asciiCount = 128

const quantifier = /(?:([*+?])|\{(\d+)(,?)(\d*)\})\??/y
const characterClass = /\[(?:[^\]\\]|\\.)*\]/suy
const characterEscape =
  /\\(?:[dDwWsS]|[pP]\{[^}]*\}|u\{[0-9A-Fa-f]+\}|u[dD][89abAB][0-9A-Fa-f]{2}\\u[dD][c-fC-F][0-9A-Fa-f]{2}|u[0-9A-Fa-f]{4}|x[0-9A-Fa-f]{2}|c[A-Za-z]|0(?!\d)|[^0-9k])/suy
const groupStart = /\((?:\?:|\?<(?![=!])[^>]*>)?/y

const assertions: Readonly<Record<string, (before: number, after: number) => boolean>> = {
  '^': (before) => before < 0,
  $: (_before, after) => after < 0,
  '\\b': (before, after) => isWord(before) !== isWord(after),
  '\\B': (before, after) => isWord(before) === isWord(after),
}

/** Parses a pattern, in JavaScript's syntax with the flag `u`, into a tree. */
export function parsePattern(source: string): PatternNode {
  if (source.length > maxPatternLength)
    throw new PatternError(`is longer than ${maxPatternLength} characters`)
  try {
    // The engine's own parser decides what is a valid pattern; the parser below may then rely on its syntax.
    void new RegExp(source, 'u')
  } catch {
    throw new PatternError('is not a valid regular expression')
  }
  const reader = new PatternReader(source)
  return reader.choice(0)
}

class PatternReader {
  readonly #source: string
  readonly #classes = new Map<string, (codePoint: number) => boolean>()
  #at = 0

  constructor(source: string) {
    this.#source = source
  }

  choice(depth: number): PatternNode {
    if (depth > maxPatternDepth) throw new PatternError(`has groups nested deeper than ${maxPatternDepth}`)
    const options = [this.#sequence(depth)]
    while (this.#source[this.#at] === '|') {
      this.#at += 1
      options.push(this.#sequence(depth))
    }
    const [only] = options
    return options.length === 1 && only !== undefined ? only : { kind: 'choice', options }
  }

  #sequence(depth: number): PatternNode {
    const parts: PatternNode[] = []
    for (;;) {
      const next = this.#source[this.#at]
      if (next === undefined || next === '|' || next === ')') break
      parts.push(this.#repeated(this.#atom(depth)))
    }
    return parts.length === 0 ? { kind: 'empty' } : { kind: 'sequence', parts }
  }

  #repeated(part: PatternNode): PatternNode {
    const match = this.#match(quantifier)
    if (match === null) return part
    const [, sign, least, comma, most] = match
    if (sign === '?') return { kind: 'repeat', part, min: 0, max: 1 }
    if (sign !== undefined)
      return { kind: 'repeat', part, min: sign === '+' ? 1 : 0, max: Number.POSITIVE_INFINITY }
    const min = Number(least)
    const max = comma === '' ? min : most === '' ? Number.POSITIVE_INFINITY : Number(most)
    return { kind: 'repeat', part, min, max }
  }

  #atom(depth: number): PatternNode {
    const two = this.#source.slice(this.#at, this.#at + 2)
    const one = two.slice(0, 1)
    for (const text of [two, one]) {
      const holds = Object.hasOwn(assertions, text) ? assertions[text] : undefined
      if (holds !== undefined) {
        this.#at += text.length
        return { kind: 'assert', holds }
      }
    }
    if (one === '(') return this.#group(depth)
    if (one === '[') return this.#characters(this.#match(characterClass)?.[0])
    if (one === '\\') return this.#characters(this.#match(characterEscape)?.[0])
    if (one === '.') {
      this.#at += 1
      return this.#characters('.')
    }
    const literal = this.#source.codePointAt(this.#at) ?? 0
    this.#at += literal > 0xffff ? 2 : 1
    return { kind: 'character', matches: (codePoint) => codePoint === literal }
  }

  #group(depth: number): PatternNode {
    if (/^\(\?(?:<?[=!])/.test(this.#source.slice(this.#at, this.#at + 4))) {
      throw new PatternError(
        'uses look-around, which cannot be checked in linear time; use "allOf" or "not" instead',
      )
    }
    if (this.#match(groupStart) === null || this.#source[this.#at] === '?') {
      throw new PatternError('has a kind of group that schemas cannot use')
    }
    const node = this.choice(depth + 1)
    this.#at += 1
    return node
  }

  /** One character, matched by the engine's own rules for classes and escapes. */
  #characters(source: string | undefined): PatternNode {
    if (source === undefined) {
      throw new PatternError('uses a back-reference, which cannot be checked in linear time')
    }
    let matches = this.#classes.get(source)
    if (matches === undefined) {
      matches = classTest(source)
      this.#classes.set(source, matches)
    }
    return { kind: 'character', matches }
  }

  #match(pattern: RegExp): RegExpExecArray | null {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#source)
    if (match !== null) this.#at += match[0].length
    return match
  }
}

function classTest(source: string): (codePoint: number) => boolean {
  const single = new RegExp(`^${source}$`, 'u')
  // By character: 0 until it was tested. A schema can have thousands of classes, and a `Map` of 128 entries takes 5 kB.
  const ascii = new Uint8Array(asciiCount)
  return (codePoint) => {
    if (codePoint >= asciiCount) return single.test(String.fromCodePoint(codePoint))
    if (ascii[codePoint] === 0) ascii[codePoint] = single.test(String.fromCodePoint(codePoint)) ? 1 : 2
    return ascii[codePoint] === 1
  }
}

export function isWord(codePoint: number): boolean {
  return codePoint >= 0 && /\w/.test(String.fromCodePoint(codePoint))
}
