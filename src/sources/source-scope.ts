import { parseExactJson } from '../transforms/exact-json.ts'
import type { Operand } from '../transforms/template/template-expression.ts'
import { type TemplateScope, walk } from '../transforms/template/template-scope.ts'
import type { SourceMessage } from './source.ts'

/** The variables of a source's templates: the fields of the message, and its body as JSON (`body`), as text (`text`) and in Base64 (`base64`). */
export class SourceScope implements TemplateScope {
  readonly #message: SourceMessage
  #body: { readonly value: unknown } | null = null
  #text: string | null = null
  renderedLength = 0
  readonly written = new Map<unknown, string>()
  writtenLength = 0

  constructor(message: SourceMessage) {
    this.#message = message
  }

  resolve(operand: Operand): unknown {
    if (operand.kind === 'literal') return operand.value
    const [first, ...rest] = operand.steps
    if (first === 'body') return walk(this.#parsed(), rest)
    if (first === 'text') return rest.length === 0 ? this.text : undefined
    if (first === 'base64') return rest.length === 0 ? this.#message.body.toString('base64') : undefined
    return walk(this.#message.fields, operand.steps)
  }

  /** The original text of the body, with all digits, also those that JavaScript's numbers can't represent. */
  source(operand: Operand): string | undefined {
    if (operand.kind === 'literal' || operand.steps.length !== 1 || operand.steps[0] !== 'body')
      return undefined
    this.#parsed()
    return this.text
  }

  get text(): string {
    // Throws a TypeError for bytes that aren't UTF-8.
    this.#text ??= utf8.decode(this.#message.body)
    return this.#text
  }

  #parsed(): unknown {
    this.#body ??= { value: parseExactJson(this.text) }
    return this.#body.value
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })
