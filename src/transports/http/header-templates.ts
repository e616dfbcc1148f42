import { PayloadError } from '../../transforms/exact-json.ts'
import { compileText, TemplateRenderError } from '../../transforms/template/compile-template.ts'
import { parseTextTemplate } from '../../transforms/template/parse-template.ts'
import type { TextPart } from '../../transforms/template/template-node.ts'
import { MessageScope } from '../../transforms/template/template-scope.ts'
import { TransformConfigError } from '../../transforms/transform.ts'
import type { Dispatch } from '../transport.ts'
import type { OutgoingRequest } from './outgoing-request.ts'
import { headerSafe } from './request-headers.ts'
import { RequestRefused } from './request-refused.ts'

/** What a header may look at, besides the JSON that is sent: the rest isn't known where requests are made. */
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

const maxRenderedLength = 8_192

type RenderText = (scope: MessageScope) => string | undefined

/** Whether a header has placeholders, or two literal braces that stand for themselves. */
function isHeaderTemplate(value: string): boolean {
  return value.includes('{{')
}

/** What is wrong with the placeholders of a header; null when nothing is. */
export function headerTemplateProblem(value: string): string | null {
  if (!isHeaderTemplate(value)) return null
  try {
    compile(value)
    return null
  } catch (error) {
    if (error instanceof TransformConfigError) return error.message
    throw error
  }
}

/**
 * The headers of an endpoint that have placeholders, compiled once. One whose value isn't there is left out; one that would
 * break out of its line is refused.
 */
export class HeaderTemplates {
  readonly #templates: readonly { readonly name: string; readonly render: RenderText }[]

  constructor(templates: Readonly<Record<string, string>>) {
    this.#templates = Object.entries(templates).map(([name, value]) => ({
      name: name.toLowerCase(),
      render: compile(value),
    }))
  }

  get isEmpty(): boolean {
    return this.#templates.length === 0
  }

  apply(request: OutgoingRequest, dispatch: Dispatch, nowMs: number): void {
    const scope = new MessageScope({
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
    for (const { name, render } of this.#templates) {
      // A message's own header beats its endpoint's.
      if (request.headers.get(name) !== undefined) continue
      const value = renderOrNothing(render, scope)
      if (value !== undefined) request.headers.set(name, checked(name, value))
    }
  }
}

/** An endpoint's headers, those with placeholders apart. */
export function splitHeaders(headers: Readonly<Record<string, string>>): {
  readonly fixed: Readonly<Record<string, string>>
  readonly templates: HeaderTemplates
} {
  const entries = Object.entries(headers)
  return {
    fixed: Object.fromEntries(entries.filter(([, value]) => !isHeaderTemplate(value))),
    templates: new HeaderTemplates(
      Object.fromEntries(entries.filter(([, value]) => isHeaderTemplate(value))),
    ),
  }
}

function renderOrNothing(render: RenderText, scope: MessageScope): string | undefined {
  try {
    return render(scope)
  } catch (error) {
    // Not there, or the body isn't JSON: either way there is nothing to say.
    if (error instanceof TemplateRenderError || error instanceof PayloadError) return undefined
    throw error
  }
}

function checked(name: string, value: string): string {
  if (/\p{Cc}/u.test(value)) {
    throw new RequestRefused({
      class: 'permanent',
      isHealthFailure: false,
      code: 'header_invalid',
      message: `the header ${name} would hold a line break or another control character, so nothing was sent. Change its template or the message`,
    })
  }
  if (value.length > maxRenderedLength) {
    throw new RequestRefused({
      class: 'permanent',
      isHealthFailure: false,
      code: 'header_invalid',
      message: `the header ${name} would be longer than ${maxRenderedLength} characters, so nothing was sent`,
    })
  }
  return headerSafe(value)
}

function compile(value: string): RenderText {
  const parts = parseTextTemplate(value, 'It')
  for (const part of parts) refuseUnknown(part)
  return compileText(parts, 'It', 'error').render
}

function refuseUnknown(part: TextPart): void {
  if (typeof part === 'string') return
  for (const operand of part.operands) {
    if (operand.kind === 'literal' || operand.variable === null || knownVariables.has(operand.variable))
      continue
    const names = [...knownVariables].filter((name) => name !== '').map((name) => `$${name}`)
    throw new TransformConfigError(
      'It',
      `uses $${operand.variable}, which is not known in headers. Use one of: ${names.join(', ')}.`,
    )
  }
}
