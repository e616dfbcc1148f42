import { PayloadError } from '../transforms/exact-json.ts'
import { compileText, TemplateRenderError } from '../transforms/template/compile-template.ts'
import { parseTextTemplate } from '../transforms/template/parse-template.ts'
import type { TextPart } from '../transforms/template/template-node.ts'
import { MessageScope } from '../transforms/template/template-scope.ts'
import { TransformConfigError } from '../transforms/transform.ts'
import type { Dispatch } from './transport.ts'

/** Variables of a transport's templates, in addition to the JSON that is sent; others are not known at this point. */
const knownVariables: ReadonlySet<string> = new Set([
  '',
  'payload',
  'messageId',
  'deliveryId',
  'eventType',
  'correlationId',
  'endpoint',
  'attempt',
  'now',
  'headers',
])

/** Renders one text for a message; undefined if one of its values is missing. */
export type RenderMessageText = (scope: MessageScope) => string | undefined

/** Whether a text has placeholders, or two literal braces. */
export function isMessageTemplate(value: string): boolean {
  return value.includes('{{')
}

/** What is wrong with a text's placeholders; null if nothing is. `place` is its position, like `headers`. */
export function messageTemplateProblem(value: string, place: string): string | null {
  if (!isMessageTemplate(value)) return null
  try {
    compileMessageText(value, place)
    return null
  } catch (error) {
    if (error instanceof TransformConfigError) return error.message
    throw error
  }
}

/** Throws a `TransformConfigError` for an invalid template. */
export function compileMessageText(value: string, place: string): RenderMessageText {
  const parts = parseTextTemplate(value, 'It')
  for (const part of parts) refuseUnknown(part, place)
  const { render } = compileText(parts, 'It', 'error')
  return (scope) => {
    try {
      return render(scope)
    } catch (error) {
      // The value is missing, or the body isn't JSON.
      if (error instanceof TemplateRenderError || error instanceof PayloadError) return undefined
      throw error
    }
  }
}

/** The values that templates can use while a message is being sent. */
export function messageScope(dispatch: Dispatch, nowMs: number): MessageScope {
  return new MessageScope({
    messageId: dispatch.messageId,
    deliveryId: dispatch.deliveryId,
    eventType: dispatch.eventType,
    tenant: null,
    correlationId: dispatch.correlationId,
    endpoint: dispatch.endpoint,
    attempt: dispatch.attempt,
    createdAtMs: nowMs,
    nowMs,
    headers: dispatch.headers,
    metadata: null,
    body: dispatch.body,
  })
}

function refuseUnknown(part: TextPart, place: string): void {
  if (typeof part === 'string') return
  for (const operand of part.operands) {
    if (operand.kind === 'literal' || operand.variable === null || knownVariables.has(operand.variable))
      continue
    const names = [...knownVariables].filter((name) => name !== '').map((name) => `$${name}`)
    throw new TransformConfigError(
      'It',
      `uses $${operand.variable}, which is not known in ${place}. Use one of: ${names.join(', ')}.`,
    )
  }
}
