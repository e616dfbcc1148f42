import { TransformConfigError } from '../transform.ts'
import { parsePlaceholder, parseText } from './parse-text.ts'
import { TemplateSyntaxError } from './template-expression.ts'
import { childPath, keyText, type TemplateNode, type TextPart, textNode } from './template-node.ts'

export const maxTemplateLength = 256 * 1024
export const maxTemplateDepth = 100

const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const word = /true|false|null/y
const space = /[ \t\r\n]*/y
const strictString = /"[^"\\\p{Cc}]*(?:\\.[^"\\\p{Cc}]*)*"/uy

/**
 * Parses a template as given by the user: a JSON value whose texts have placeholders, or the text of such JSON, in which a placeholder may also be
 * written without quotes. Every error has a position: the field for a value, the offset for a text.
 */
export function parseTemplate(template: unknown, path: string): TemplateNode {
  if (typeof template === 'string') return parseTemplateText(template, path)
  let length = 0
  return convert(template, path, 0)

  function convert(value: unknown, at: string, depth: number): TemplateNode {
    if (depth > maxTemplateDepth) throw new TransformConfigError(at, tooDeep)
    if (typeof value === 'string') {
      length += value.length
      if (length > maxTemplateLength) throw new TransformConfigError(at, tooLong)
      return textNode(named(value, at), at)
    }
    if (Array.isArray(value)) {
      return {
        kind: 'array',
        items: value.map((item, index) => convert(item, childPath(at, index), depth + 1)),
      }
    }
    if (typeof value === 'object' && value !== null) {
      const entries = Object.entries(value).map(([key, item]) => {
        const itemPath = childPath(at, key)
        return { key: named(key, itemPath), value: convert(item, itemPath, depth + 1), path: itemPath }
      })
      return { kind: 'object', entries }
    }
    const json = JSON.stringify(value) as string | undefined
    if (json === undefined || (typeof value === 'number' && !Number.isFinite(value))) {
      throw new TransformConfigError(at, `${at} is not a JSON value.`)
    }
    return { kind: 'literal', json }
  }
}

/** Parses a single text with placeholders, like a subject line. */
export function parseTextTemplate(text: string, path: string): readonly TextPart[] {
  if (text.length > maxTemplateLength) throw new TransformConfigError(path, tooLong)
  return named(text, path)
}

const tooLong = `The template is longer than ${maxTemplateLength} characters.`
const tooDeep = `The template is nested deeper than ${maxTemplateDepth} levels.`

function named(text: string, path: string): TextPart[] {
  try {
    return parseText(text)
  } catch (error) {
    throw asConfigError(error, path)
  }
}

function asConfigError(error: unknown, path: string): unknown {
  if (!(error instanceof TemplateSyntaxError)) return error
  return new TransformConfigError(
    path,
    `${path} ${error.message}, at offset ${error.position}.`,
    error.position,
  )
}

function parseTemplateText(text: string, path: string): TemplateNode {
  if (text.length > maxTemplateLength) throw new TransformConfigError(path, tooLong)
  try {
    const reader = new TemplateTextReader(text)
    return reader.document(path)
  } catch (error) {
    throw asConfigError(error, path)
  }
}

/** Parses JSON that has placeholders in place of values, and inside its strings. */
class TemplateTextReader {
  readonly #text: string
  #at = 0

  constructor(text: string) {
    this.#text = text
  }

  document(path: string): TemplateNode {
    const node = this.#value(path, 0)
    this.#take(space)
    if (this.#at < this.#text.length) throw this.#unexpected('the end of the template')
    return node
  }

  #value(path: string, depth: number): TemplateNode {
    if (depth > maxTemplateDepth) throw new TemplateSyntaxError('is nested too deep', this.#at)
    this.#take(space)
    if (this.#text.startsWith('{{', this.#at)) {
      const { expression, end } = parsePlaceholder(this.#text, this.#at)
      this.#at = end
      return { kind: 'value', expression, path }
    }
    if (this.#text[this.#at] === '"') return textNode(this.#string(), path)
    if (this.#takeText('{')) return this.#object(path, depth)
    if (this.#takeText('[')) return this.#array(path, depth)
    const scalar = this.#take(word) ?? this.#take(number)
    if (scalar === null) throw this.#unexpected('a JSON value or a placeholder')
    return { kind: 'literal', json: scalar }
  }

  #object(path: string, depth: number): TemplateNode {
    const entries: { key: readonly TextPart[]; value: TemplateNode; path: string }[] = []
    this.#take(space)
    if (this.#takeText('}')) return { kind: 'object', entries }
    do {
      this.#take(space)
      if (this.#text[this.#at] !== '"') throw this.#unexpected('a name in quotes')
      const key = this.#string()
      this.#take(space)
      if (!this.#takeText(':')) throw this.#unexpected('":"')
      const entryPath = childPath(path, keyText(key))
      entries.push({ key, value: this.#value(entryPath, depth + 1), path: entryPath })
      this.#take(space)
    } while (this.#takeText(','))
    if (!this.#takeText('}')) throw this.#unexpected('"," or "}"')
    return { kind: 'object', entries }
  }

  #array(path: string, depth: number): TemplateNode {
    const items: TemplateNode[] = []
    this.#take(space)
    if (this.#takeText(']')) return { kind: 'array', items }
    do {
      items.push(this.#value(childPath(path, items.length), depth + 1))
      this.#take(space)
    } while (this.#takeText(','))
    if (!this.#takeText(']')) throw this.#unexpected('"," or "]"')
    return { kind: 'array', items }
  }

  /** Tries the rules of JSON first. Users also write `"{{ name ?? "nobody" }}"`, which is unambiguous, so that is tried second. */
  #string(): TextPart[] {
    const start = this.#at
    const strict = this.#take(strictString)
    if (strict !== null) {
      const parts = attempt(() => parseText(JSON.parse(strict) as string))
      if (parts !== null) return parts
    }
    this.#at = start
    return this.#looseString()
  }

  #looseString(): TextPart[] {
    const parts: TextPart[] = []
    let literal = ''
    this.#at += 1
    for (;;) {
      const character = this.#text[this.#at]
      if (character === undefined || character < ' ') throw this.#unexpected('the closing quote of a text')
      if (this.#takeText('\\{{')) literal += '{{'
      else if (character === '\\') literal += this.#escape()
      else if (this.#takeText('"')) break
      else if (this.#text.startsWith('{{', this.#at)) {
        if (literal !== '') parts.push(literal)
        literal = ''
        const { expression, end } = parsePlaceholder(this.#text, this.#at)
        parts.push(expression)
        this.#at = end
      } else {
        literal += character
        this.#at += 1
      }
    }
    if (literal !== '') parts.push(literal)
    return parts
  }

  #escape(): string {
    const escape = this.#take(/\\(?:u[0-9A-Fa-f]{4}|["\\/bfnrt])/y)
    if (escape === null) throw this.#unexpected('a JSON escape sequence')
    return JSON.parse(`"${escape}"`) as string
  }

  #take(pattern: RegExp): string | null {
    pattern.lastIndex = this.#at
    const match = pattern.exec(this.#text)
    if (match === null) return null
    this.#at += match[0].length
    return match[0]
  }

  #takeText(text: string): boolean {
    if (!this.#text.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #unexpected(wanted: string): TemplateSyntaxError {
    const found = this.#text[this.#at]
    const what = found === undefined ? 'the end' : JSON.stringify(found)
    return new TemplateSyntaxError(`has ${what} where ${wanted} is expected`, this.#at)
  }
}

function attempt<T>(parse: () => T): T | null {
  try {
    return parse()
  } catch {
    return null
  }
}
