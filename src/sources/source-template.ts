import { compileTemplate, compileText, type RenderNode } from '../transforms/template/compile-template.ts'
import { parseTemplate, parseTextTemplate } from '../transforms/template/parse-template.ts'
import type { Expression } from '../transforms/template/template-expression.ts'
import type { TemplateNode, TextPart } from '../transforms/template/template-node.ts'
import { TransformConfigError } from '../transforms/transform.ts'
import type { SourceScope } from './source-scope.ts'

/** Renders one text; undefined if its value is null. Throws a `TemplateRenderError` for a missing value. */
export type RenderSourceText = (scope: SourceScope) => string | undefined

/** Throws a `TransformConfigError` for an invalid template. */
export function compileSourceText(text: string, path: string): RenderSourceText {
  const parts = parseTextTemplate(text, path)
  refuseInText(parts, path)
  return compileText(parts, path, 'error').render
}

/** The same for a JSON template. */
export function compileSourceJson(template: unknown, path: string): RenderNode {
  const node = parseTemplate(template, path)
  refuseVariables(node)
  return compileTemplate(node, 'error', 'message').render
}

function refuseVariables(node: TemplateNode): void {
  if (node.kind === 'value') refuse(node.expression, node.path)
  else if (node.kind === 'text') refuseInText(node.parts, node.path)
  else if (node.kind === 'array') for (const item of node.items) refuseVariables(item)
  else if (node.kind === 'object') {
    for (const { key, value, path } of node.entries) {
      refuseInText(key, path)
      refuseVariables(value)
    }
  }
}

function refuseInText(parts: readonly TextPart[], path: string): void {
  for (const part of parts) if (typeof part !== 'string') refuse(part, path)
}

/** A source has no Holdfast message yet, so the variables of transforms are unknown. */
function refuse({ operands }: Expression, path: string): void {
  for (const operand of operands) {
    if (operand.kind === 'literal' || operand.variable === null) continue
    throw new TransformConfigError(
      path,
      `${path} uses $${operand.variable}, which is not known in a source. Name a field of the message, like {{ routingKey }}, {{ headers.kind }} or {{ body.id }}.`,
    )
  }
}
