import { isReservedHeader } from '../../core/endpoints/reserved-headers.ts'
import type { Dispatch } from '../transport.ts'
import { HeaderList } from './header-list.ts'

/** The initial headers of every request of an endpoint; configured headers replace the defaults. */
export function baseHeaders(userAgent: string, configured: Readonly<Record<string, string>>): HeaderList {
  return HeaderList.from({
    'content-type': 'application/json',
    'user-agent': userAgent,
    ...HeaderList.from(configured).toRecord(),
  })
}

/** The endpoint's headers, then the message's, then those that can't be overridden. */
export function requestHeaders(base: HeaderList, dispatch: Dispatch, nowMs: number): HeaderList {
  const headers = base.clone()
  for (const name of Object.keys(dispatch.headers)) {
    const lowerName = name.toLowerCase()
    const value = dispatch.headers[name]
    if (value !== undefined && !isReservedHeader(lowerName)) headers.set(lowerName, value)
  }
  // Reserved names can't be in the list yet, so no search is needed.
  headers.flat.push(
    'webhook-id',
    dispatch.messageId,
    'webhook-timestamp',
    String(Math.floor(nowMs / 1_000)),
    'holdfast-delivery-id',
    dispatch.deliveryId,
    'holdfast-attempt',
    String(dispatch.attempt),
  )
  if (dispatch.eventType !== null) headers.flat.push('holdfast-event-type', headerSafe(dispatch.eventType))
  if (dispatch.correlationId !== null) headers.set('x-correlation-id', headerSafe(dispatch.correlationId))
  return headers
}

/** An application's own id may contain characters that a header can't; percent-encoded it is still sent and can't add a header. */
export function headerSafe(value: string): string {
  return /^[\u0020-\u007e]*$/.test(value)
    ? value
    : encodeURIComponent(value.replaceAll(/\p{Surrogate}/gu, '\ufffd'))
}
