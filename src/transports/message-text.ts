import { PayloadError } from '../transforms/exact-json.ts'
import { compileText, TemplateRenderError } from '../transforms/template/compile-template.ts'
import { parseTextTemplate } from '../transforms/template/parse-template.ts'
import type { TextPart } from '../transforms/template/template-node.ts'
import { MessageScope } from '../transforms/template/template-scope.ts'
import { TransformConfigError } from '../transforms/transform.ts'
import type { Dispatch } from './transport.ts'

/** What a template of a transport may use, in addition to the JSON that is sent: nothing else is known when messages are sent. */
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

/** Renders one text for a message; undefined if a value that it names is missing. */
export type RenderMessageText = (scope: MessageScope) => string | undefined

/** Whether a text has placeholders, or two literal braces that stand for themselves. */
export function isMessageTemplate(value: string): boolean {
  return value.includes('{{')
}

/** The problem of a text's placeholders; null if there is none. `place` is its position, like `headers`. */
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

/** Throws a `TransformConfigError` for a template that can't be used. */
export function compileMessageText(value: string, place: string): RenderMessageText {
  const parts = parseTextTemplate(value, 'It')
  for (const part of parts) refuseUnknown(part, place)
  const { render } = compileText(parts, 'It', 'error')
  return (scope) => {
    try {
      return render(scope)
    } catch (error) {
      // Missing, or the body isn't JSON: either way there is no value.
      if (error instanceof TemplateRenderError || error instanceof PayloadError) return undefined
      throw error
    }
  }
}

/** What templates see of a message that is being sent. */
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
