import { exactNumberText, writeExactJson } from '../exact-json.ts'
import { TransformConfigError } from '../transform.ts'
import type { Expression } from './template-expression.ts'
import type { TemplateEntry, TemplateNode, TextPart } from './template-node.ts'
import { type ScopeKind, type TemplateScope, variableNames, volatileVariables } from './template-scope.ts'

/** How to render a placeholder whose value is missing and that has no default. */
export type MissingRule = 'error' | 'null' | 'omit'

export const maxRenderedLength = 16 * 1024 * 1024
/** Of different values, which may contain each other: each is written once. */
const maxWrittenLength = 6 * 1024 * 1024
const minKeptLength = 1024

/** Returns undefined if the node is left out, by the rule `omit`. */
export type RenderNode = (scope: TemplateScope) => string | undefined

export interface CompiledTemplate {
  readonly render: RenderNode
  /** The template uses no value that differs by recipient or attempt. */
  readonly isCacheable: boolean
}

export class TemplateRenderError extends Error {
  readonly code: 'template_missing_value' | 'rendered_too_large'

  constructor(code: 'template_missing_value' | 'rendered_too_large', message: string) {
    super(message)
    this.name = 'TemplateRenderError'
    this.code = code
  }
}

/** Compiles a parsed template to functions that write the JSON text directly; parts without placeholders are serialized once, here. */
export function compileTemplate(node: TemplateNode, missing: MissingRule, kind: ScopeKind): CompiledTemplate {
  const compiler = new TemplateCompiler(missing, kind)
  return { render: compiler.node(node), isCacheable: compiler.isCacheable }
}

/** Compiles text with placeholders that is rendered as text, not as JSON. */
export function compileText(
  parts: readonly TextPart[],
  path: string,
  missing: MissingRule,
): { readonly render: (scope: TemplateScope) => string | undefined; readonly isCacheable: boolean } {
  const compiler = new TemplateCompiler(missing, 'message')
  return { render: compiler.text(parts, path), isCacheable: compiler.isCacheable }
}

class TemplateCompiler {
  readonly #missing: MissingRule
  readonly #kind: ScopeKind
  isCacheable = true

  constructor(missing: MissingRule, kind: ScopeKind) {
    this.#missing = missing
    this.#kind = kind
  }

  node(node: TemplateNode): RenderNode {
    if (node.kind === 'literal') return () => node.json
    if (node.kind === 'value') return this.#value(node.expression, node.path)
    if (node.kind === 'array') return this.#array(node.items)
    if (node.kind === 'object') return this.#object(node.entries)
    const render = this.text(node.parts, node.path)
    return (scope) => JSON.stringify(render(scope) ?? '')
  }

  /** Renders the parts of a text. A missing value becomes an empty part, unless the rule is `error`. */
  text(parts: readonly TextPart[], path: string): (scope: TemplateScope) => string | undefined {
    const pieces = parts.map((part) => (typeof part === 'string' ? part : this.#insideText(part, path)))
    const [only] = pieces
    if (pieces.length === 1 && typeof only === 'function') return only
    return (scope) => {
      let text = ''
      for (const piece of pieces) text += typeof piece === 'string' ? piece : (piece(scope) ?? '')
      return text
    }
  }

  #insideText(expression: Expression, path: string): (scope: TemplateScope) => string | undefined {
    const evaluate = this.#evaluator(expression, path)
    return (scope) => {
      const value = evaluate(scope)
      if (value === undefined || value === null) return undefined
      const json = jsonOf(scope, value)
      // With its escapes, because the whole text is written as JSON.
      count(scope, json.length)
      return typeof value === 'string' ? (exactNumberText(value) ?? value) : json
    }
  }

  #value(expression: Expression, path: string): RenderNode {
    const evaluate = this.#evaluator(expression, path)
    const [only] = expression.operands
    const isWhole = expression.operands.length === 1 && only !== undefined
    return (scope) => {
      const source = isWhole ? scope.source(only) : undefined
      const value = source === undefined ? evaluate(scope) : undefined
      if (source === undefined && value === undefined) return this.#missing === 'omit' ? undefined : 'null'
      const json = source ?? jsonOf(scope, value)
      count(scope, json.length)
      return json
    }
  }

  #array(items: readonly TemplateNode[]): RenderNode {
    const renders = items.map((item) => this.node(item))
    return (scope) => {
      let json = ''
      for (const render of renders) {
        const item = render(scope)
        if (item !== undefined) json += json === '' ? item : `,${item}`
      }
      return `[${json}]`
    }
  }

  #object(entries: readonly TemplateEntry[]): RenderNode {
    const members = entries.map(({ key, value, path }) => {
      const render = this.node(value)
      if (key.every((part) => typeof part === 'string')) {
        const name = `${JSON.stringify(key.join(''))}:`
        return { name: () => name, render }
      }
      const text = this.text(key, path)
      return { name: (scope: TemplateScope) => `${JSON.stringify(text(scope) ?? '')}:`, render }
    })
    return (scope) => {
      let json = ''
      for (const member of members) {
        const value = member.render(scope)
        if (value === undefined) continue
        json += json === '' ? member.name(scope) : `,${member.name(scope)}`
        json += value
      }
      return `{${json}}`
    }
  }

  #evaluator(expression: Expression, path: string): (scope: TemplateScope) => unknown {
    this.#check(expression, path)
    const { operands } = expression
    const last = operands.length - 1
    return (scope) => {
      let value: unknown
      for (let index = 0; index <= last; index += 1) {
        const operand = operands[index]
        if (operand === undefined) break
        value = scope.resolve(operand)
        if (value !== undefined && value !== null) return value
      }
      if (value === undefined && this.#missing === 'error') throw missingValue(expression, path)
      return value
    }
  }

  #check(expression: Expression, path: string): void {
    for (const operand of expression.operands) {
      if (operand.kind === 'literal') continue
      const { variable } = operand
      const known = variableNames(this.#kind)
      if (!known.includes(variable ?? '')) {
        const names = known.map((name) => `$${name}`).join(', ')
        const what = variable === null || variable === '' ? 'a path into one payload' : `$${variable}`
        throw new TransformConfigError(
          path,
          `${path} uses ${what}, which is not known here. Use one of: ${names}.`,
        )
      }
      if (volatileVariables.has(variable ?? '')) this.isCacheable = false
    }
  }
}

/** A large value is written once: writing one object for each of its placeholders took 300 ms for 16 MiB, copying it takes 20 (measured). */
function jsonOf(scope: TemplateScope, value: unknown): string {
  if (typeof value === 'number') return Number.isFinite(value) ? String(value) : 'null'
  const written = scope.written.get(value)
  if (written !== undefined) return written
  const json = writeExactJson(value)
  if (typeof value === 'string' && json.length < minKeptLength) return json
  scope.written.set(value, json)
  scope.writtenLength += json.length
  if (scope.writtenLength > maxWrittenLength) {
    throw new TemplateRenderError(
      'rendered_too_large',
      `The template writes different parts of this message with more than ${maxWrittenLength} characters in total. Use fewer large values.`,
    )
  }
  return json
}

function count(scope: TemplateScope, length: number): void {
  scope.renderedLength += length
  if (scope.renderedLength > maxRenderedLength) {
    throw new TemplateRenderError(
      'rendered_too_large',
      `The result of the template for this message is longer than ${maxRenderedLength} characters. Use fewer large values.`,
    )
  }
}

function missingValue(expression: Expression, path: string): TemplateRenderError {
  return new TemplateRenderError(
    'template_missing_value',
    `{{ ${expression.source} }} at ${path}: this message has no such value. Give a default, like {{ ${expression.source} ?? null }}, or set "missing".`,
  )
}
