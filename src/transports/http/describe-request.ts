import type { RenderedRequest } from '../../core/delivery/attempt.ts'
import type { Dispatch } from '../transport.ts'
import { redacted, redactHeaders, redactUrl, textExcerpt } from './excerpt.ts'
import { splitHeaders } from './header-templates.ts'
import { type HttpConfig, seenUrl } from './http-config.ts'
import { baseHeaders, requestHeaders } from './request-headers.ts'
import { parametersOf, secretHeadersOf } from './request-preparer.ts'

const maxBodyBytes = 64 * 1024

/** The request as it would be sent, with signatures and credentials redacted. */
export function describeRequest(config: HttpConfig, dispatch: Dispatch, userAgent: string): RenderedRequest {
  const url = new URL(seenUrl(config.url))
  url.hash = ''
  const secretHeaders = secretHeadersOf(config)
  const shown = Object.entries(config.headers).map(([name, value]) => [
    name,
    typeof value === 'string' ? value : redacted,
  ])
  const { fixed, templates } = splitHeaders(Object.fromEntries(shown) as Record<string, string>)
  const request = {
    method: config.method,
    url,
    headers: requestHeaders(baseHeaders(userAgent, fixed), dispatch, Date.now()),
    body: dispatch.body,
  }
  templates.apply(request, dispatch, Date.now())
  if (config.signing?.scheme === 'standard-webhooks') request.headers.set('webhook-signature', redacted)
  for (const name of secretHeaders) request.headers.set(name, redacted)
  const body = textExcerpt(dispatch.body, maxBodyBytes)
  return {
    method: config.method,
    url: redactUrl(url, parametersOf(config), config.secretPath),
    headers: redactHeaders(request.headers.toRecord(), secretHeaders),
    body: body.text,
    isTruncated: body.isTruncated,
  }
}
