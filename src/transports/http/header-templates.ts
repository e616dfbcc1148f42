import {
  compileMessageText,
  isMessageTemplate,
  messageScope,
  messageTemplateProblem,
  type RenderMessageText,
} from '../message-text.ts'
import type { Dispatch } from '../transport.ts'
import type { OutgoingRequest } from './outgoing-request.ts'
import { headerSafe } from './request-headers.ts'
import { RequestRefused } from './request-refused.ts'

const maxRenderedLength = 8_192

/** What is wrong with the placeholders of a header; null if nothing is. */
export function headerTemplateProblem(value: string): string | null {
  return messageTemplateProblem(value, 'headers')
}

/**
 * The headers of an endpoint that have placeholders, compiled once. A header whose value is missing is left
 * out; one whose value contains a line break is refused.
 */
export class HeaderTemplates {
  readonly #templates: readonly { readonly name: string; readonly render: RenderMessageText }[]

  constructor(templates: Readonly<Record<string, string>>) {
    this.#templates = Object.entries(templates).map(([name, value]) => ({
      name: name.toLowerCase(),
      render: compileMessageText(value, 'headers'),
    }))
  }

  get isEmpty(): boolean {
    return this.#templates.length === 0
  }

  apply(request: OutgoingRequest, dispatch: Dispatch, nowMs: number): void {
    const scope = messageScope(dispatch, nowMs)
    for (const { name, render } of this.#templates) {
      // A message's own header takes precedence over its endpoint's.
      if (request.headers.get(name) !== undefined) continue
      const value = render(scope)
      if (value !== undefined) request.headers.set(name, checked(name, value))
    }
  }
}

/** Splits an endpoint's headers into those with and those without placeholders. */
export function splitHeaders(headers: Readonly<Record<string, string>>): {
  readonly fixed: Readonly<Record<string, string>>
  readonly templates: HeaderTemplates
} {
  const entries = Object.entries(headers)
  return {
    fixed: Object.fromEntries(entries.filter(([, value]) => !isMessageTemplate(value))),
    templates: new HeaderTemplates(
      Object.fromEntries(entries.filter(([, value]) => isMessageTemplate(value))),
    ),
  }
}

function checked(name: string, value: string): string {
  if (/\p{Cc}/u.test(value)) {
    throw new RequestRefused({
      class: 'permanent',
      isHealthFailure: false,
      code: 'header_invalid',
      message: `the header ${name} would contain a line break or another control character, so nothing was sent. Change its template or the message`,
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
