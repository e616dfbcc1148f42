import type { Expression } from './template-expression.ts'

/** Text with placeholders: literal parts and expressions. */
export type TextPart = string | Expression

/** A parsed template: the JSON to write, with expressions in it. */
export type TemplateNode =
  | { readonly kind: 'literal'; readonly json: string }
  /** A placeholder that is the whole value, which keeps its type. */
  | { readonly kind: 'value'; readonly expression: Expression; readonly path: string }
  | { readonly kind: 'text'; readonly parts: readonly TextPart[]; readonly path: string }
  | { readonly kind: 'array'; readonly items: readonly TemplateNode[] }
  | { readonly kind: 'object'; readonly entries: readonly TemplateEntry[] }

export interface TemplateEntry {
  /** The key with its placeholders; a single string if it has none. */
  readonly key: readonly TextPart[]
  readonly value: TemplateNode
  readonly path: string
}

/** The node for a string: it has no placeholders, is a single placeholder, or contains some. */
export function textNode(parts: readonly TextPart[], path: string): TemplateNode {
  const [only] = parts
  if (parts.length === 0) return { kind: 'literal', json: '""' }
  if (parts.length === 1 && only !== undefined) {
    return typeof only === 'string'
      ? { kind: 'literal', json: JSON.stringify(only) }
      : { kind: 'value', expression: only, path }
  }
  return { kind: 'text', parts, path }
}

export function childPath(path: string, key: string | number): string {
  if (typeof key === 'number') return `${path}[${key}]`
  return /^[\p{L}_][\p{L}\p{N}_]*$/u.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`
}

export function keyText(key: readonly TextPart[]): string {
  return key.map((part) => (typeof part === 'string' ? part : `{{ ${part.source} }}`)).join('')
}
