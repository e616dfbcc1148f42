import { parseExpression, TemplateSyntaxError } from './template-expression.ts'
import type { TextPart } from './template-node.ts'

/** Splits text at its placeholders. `\{{` is a literal `{{`. */
export function parseText(text: string): TextPart[] {
  const parts: TextPart[] = []
  let literal = ''
  let at = 0
  for (;;) {
    const open = text.indexOf('{{', at)
    if (open === -1) break
    if (text[open - 1] === '\\' && open > at) {
      literal += `${text.slice(at, open - 1)}{{`
      at = open + 2
      continue
    }
    literal += text.slice(at, open)
    if (literal !== '') parts.push(literal)
    literal = ''
    const { expression, end } = parsePlaceholder(text, open)
    parts.push(expression)
    at = end
  }
  literal += text.slice(at)
  if (literal !== '') parts.push(literal)
  return parts
}

export function parsePlaceholder(text: string, open: number): ReturnType<typeof parseExpression> {
  if (/^\{\{\s*\}\}/.test(text.slice(open, open + 64))) {
    throw new TemplateSyntaxError('has an empty placeholder; write \\{{ for two literal braces', open)
  }
  return parseExpression(text, open + 2)
}
