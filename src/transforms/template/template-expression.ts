/** One step into a value: a key, or the index of an element (negative counts from the end). */
export type PathStep = string | number

/** The content of a placeholder: a path into the payload or into a variable, or a literal. */
export type Operand =
  | { readonly kind: 'path'; readonly variable: string | null; readonly steps: readonly PathStep[] }
  | { readonly kind: 'literal'; readonly value: unknown }

/** `a ?? b ?? "c"`: the first value that exists and isn't null; the last one is used in any case. */
export interface Expression {
  readonly operands: readonly Operand[]
  /** The original text, for messages. */
  readonly source: string
}

export class TemplateSyntaxError extends Error {
  readonly position: number

  constructor(message: string, position: number) {
    super(message)
    this.name = 'TemplateSyntaxError'
    this.position = position
  }
}

const space = /\s*/y
const name = /[\p{L}\p{N}_@-][\p{L}\p{N}_@$-]*/uy
const variableName = /\$[A-Za-z]*/y
const wholeNumber = /-?\d{1,9}/y
const jsonNumber = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?(?![\p{L}\p{N}_])/uy
const word = /(?:true|false|null)(?![\p{L}\p{N}_@$.[-])/uy
const doubleQuoted = /"[^"\\]*(?:\\.[^"\\]*)*"/y
const quotedKey = /\[\s*(?:"[^"\\]*(?:\\.[^"\\]*)*"|'[^'\\]*(?:\\.[^'\\]*)*')\s*\]/y
const singleQuoted = /'[^'\\]*(?:\\.[^'\\]*)*'/y

/** Parses `path ?? default }}`, starting right after a `{{`. */
export function parseExpression(text: string, start: number): { expression: Expression; end: number } {
  const reader = new ExpressionReader(text, start)
  const expression = reader.expression()
  return { expression, end: reader.at }
}

class ExpressionReader {
  readonly #text: string
  at: number

  constructor(text: string, start: number) {
    this.#text = text
    this.at = start
  }

  expression(): Expression {
    const start = this.at
    const operands: Operand[] = []
    do {
      this.#take(space)
      operands.push(this.#operand(operands.length > 0))
      this.#take(space)
    } while (this.#takeText('??'))
    const end = this.at
    if (!this.#takeText('}}')) throw this.#unexpected('"}}" or "??"')
    return { operands, source: this.#text.slice(start, end).trim() }
  }

  #operand(isDefault: boolean): Operand {
    const variable = this.#take(variableName)
    if (variable !== null) return { kind: 'path', variable: variable.slice(1), steps: this.#steps() }
    if (this.#isQuotedKeyAhead(isDefault)) {
      return { kind: 'path', variable: null, steps: this.#steps() }
    }
    const literal = this.#literal()
    if (literal !== undefined) return { kind: 'literal', value: literal.value }
    const first = this.#take(name)
    if (first === null)
      throw this.#unexpected('a path like order.id, a variable like $now, or a JSON literal')
    return { kind: 'path', variable: null, steps: [toStep(first), ...this.#steps()] }
  }

  /** `["a-b"]` and `["a-b"].c` begin a path; after `??` the first one is a list with one element, as `[]` and `["a", "b"]` always are. */
  #isQuotedKeyAhead(isDefault: boolean): boolean {
    quotedKey.lastIndex = this.at
    const match = quotedKey.exec(this.#text)
    if (match === null) return false
    const next = this.#text[this.at + match[0].length]
    return next === '.' || next === '[' || (!isDefault && next !== ',')
  }

  #steps(): PathStep[] {
    const steps: PathStep[] = []
    for (;;) {
      if (this.#takeText('.')) {
        const step = this.#take(name)
        if (step === null) throw this.#unexpected('a name or an index behind "."')
        steps.push(toStep(step))
      } else if (this.#takeText('[')) {
        this.#take(space)
        steps.push(this.#bracketStep())
        this.#take(space)
        if (!this.#takeText(']')) throw this.#unexpected('"]"')
      } else return steps
    }
  }

  #bracketStep(): PathStep {
    const index = this.#take(wholeNumber)
    if (index !== null) return Number(index)
    const key = this.#quoted()
    if (key === null) throw this.#unexpected('an index like [0] or a quoted name like ["a-b"]')
    return key
  }

  #literal(): { readonly value: unknown } | undefined {
    const text = this.#quoted()
    if (text !== null) return { value: text }
    const scalar = this.#take(word) ?? this.#take(jsonNumber)
    if (scalar !== null) {
      // Here a literal with more digits than a double would lose them, unlike a number from the payload.
      if (scalar.replace(/\D/g, '').length > 15) throw this.#unexpected('a number of at most 15 digits')
      return { value: JSON.parse(scalar) as unknown }
    }
    if (this.#takeText('[')) return { value: this.#list() }
    if (this.#takeText('{')) return { value: this.#record() }
    return undefined
  }

  #list(): unknown[] {
    const items: unknown[] = []
    this.#take(space)
    if (this.#takeText(']')) return items
    do items.push(this.#nestedLiteral())
    while (this.#takeText(','))
    if (!this.#takeText(']')) throw this.#unexpected('"," or "]"')
    return items
  }

  #record(): Record<string, unknown> {
    const entries: [string, unknown][] = []
    this.#take(space)
    if (this.#takeText('}')) return {}
    do {
      this.#take(space)
      const key = this.#quoted()
      if (key === null) throw this.#unexpected('a quoted name')
      this.#take(space)
      if (!this.#takeText(':')) throw this.#unexpected('":"')
      entries.push([key, this.#nestedLiteral()])
    } while (this.#takeText(','))
    if (!this.#takeText('}')) throw this.#unexpected('"," or "}"')
    return Object.fromEntries(entries)
  }

  #nestedLiteral(): unknown {
    this.#take(space)
    const literal = this.#literal()
    if (literal === undefined) throw this.#unexpected('a JSON value')
    this.#take(space)
    return literal.value
  }

  #quoted(): string | null {
    const start = this.at
    const double = this.#take(doubleQuoted)
    const json = double ?? toDoubleQuoted(this.#take(singleQuoted))
    if (json === null) return null
    try {
      return JSON.parse(json) as string
    } catch {
      throw new TemplateSyntaxError('has a quoted text that is not valid JSON', start)
    }
  }

  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.at
    const match = pattern.exec(this.#text)
    if (match === null) return null
    this.at += match[0].length
    return match[0]
  }

  #takeText(text: string): boolean {
    if (!this.#text.startsWith(text, this.at)) return false
    this.at += text.length
    return true
  }

  #unexpected(wanted: string): TemplateSyntaxError {
    const found = this.#text[this.at]
    const what = found === undefined ? 'the end' : JSON.stringify(found)
    return new TemplateSyntaxError(`has ${what} where ${wanted} is expected`, this.at)
  }
}

function toStep(segment: string): PathStep {
  return /^\d{1,9}$/.test(segment) ? Number(segment) : segment
}

function toDoubleQuoted(text: string | null): string | null {
  if (text === null) return null
  const inner = text.slice(1, -1).replace(/\\'|"/g, (token) => (token === '"' ? '\\"' : "'"))
  return `"${inner}"`
}
