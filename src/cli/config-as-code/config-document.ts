import { type Document, isMap, isScalar, LineCounter, parseDocument } from 'yaml'
import { HoldfastError } from '../../core/errors.ts'

export interface PlacedProblem {
  readonly line: number
  readonly path: string
  readonly message: string
}

/** Longer files are generated, and should be split. */
const maxFileCharacters = 10 * 1024 * 1024
/** Limit of expanded aliases: more is an attack or an accident. */
const maxAliasCount = 100

/** A YAML file with the line of each value. JSON is valid YAML. */
export class ConfigDocument {
  readonly name: string
  readonly value: unknown
  readonly #document: Document.Parsed
  readonly #lines: LineCounter

  constructor(name: string, text: string) {
    this.name = name
    if (text.length > maxFileCharacters) {
      throw new HoldfastError('invalid_file', `${name} is longer than ${maxFileCharacters} characters.`)
    }
    this.#lines = new LineCounter()
    this.#document = parseDocument(text, { lineCounter: this.#lines, prettyErrors: false })
    const [error] = this.#document.errors
    if (error !== undefined)
      throw this.refusal([{ line: this.#lineAt(error.pos[0]), path: '', message: messageOf(error) }])
    try {
      this.value = this.#document.toJS({ maxAliasCount })
    } catch (cause) {
      throw this.refusal([{ line: 1, path: '', message: messageOf(cause as Error) }])
    }
  }

  /** The line of a field, or of the nearest enclosing one that the file contains. */
  lineOf(path: readonly PropertyKey[]): number {
    for (let depth = path.length; depth > 0; depth--) {
      const parent =
        depth === 1 ? this.#document.contents : this.#document.getIn(path.slice(0, depth - 1), true)
      const key = path[depth - 1]
      const pair = isMap(parent)
        ? parent.items.find((item) => isScalar(item.key) && String(item.key.value) === String(key))
        : undefined
      const node = (pair?.key ?? this.#document.getIn(path.slice(0, depth), true)) as
        | { range?: [number, number, number] | null }
        | undefined
      if (node?.range != null) return this.#lineAt(node.range[0])
    }
    return 1
  }

  refusal(problems: readonly PlacedProblem[]): HoldfastError {
    const listed = problems
      .toSorted((one, other) => one.line - other.line)
      .map(({ line, path, message }) => `  ${this.name}:${line}: ${path === '' ? '' : `${path} `}${message}`)
    return new HoldfastError(
      'invalid_file',
      `${this.name} is invalid; nothing was changed.\n${listed.join('\n')}`,
      {
        problems,
      },
    )
  }

  #lineAt(offset: number): number {
    return this.#lines.linePos(offset).line
  }
}

/** The parser reports that it ran out of stack like an error of syntax. */
function messageOf({ message }: Error): string {
  return message.includes('call stack') ? 'is nested too deep' : message
}
