import type { RenderedRequest } from '../../core/attempt.ts'
import type { Dispatch } from '../transport.ts'
import { redactHeaders, redactUrl, textExcerpt } from './excerpt.ts'
import type { HttpConfig } from './http-config.ts'
import { baseHeaders, requestHeaders } from './request-headers.ts'

const maxBodyBytes = 64 * 1024

/** The request as it would go out, without what is only known when it does: signatures and fetched tokens. */
export function describeRequest(config: HttpConfig, dispatch: Dispatch, userAgent: string): RenderedRequest {
  const url = new URL(config.url)
  url.hash = ''
  const headers = requestHeaders(baseHeaders(userAgent, config.headers), dispatch, Date.now())
  const body = textExcerpt(dispatch.body, maxBodyBytes)
  return {
    method: config.method,
    url: redactUrl(url),
    headers: redactHeaders(headers.toRecord()),
    body: body.text,
    isTruncated: body.isTruncated,
  }
}
