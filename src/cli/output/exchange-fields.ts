import { type Field, textOf } from './field-list.ts'

type Part = Readonly<Record<string, unknown>> | null | undefined

/** A request as one reads it: its line, its headers, its body. */
export function requestFields(request: Part): Field[] {
  if (!request) return []
  return messageFields('request', `${textOf(request['method'])} ${textOf(request['url'])}`, request)
}

/** What the receiver answered: its status, its headers, its body. */
export function responseFields(response: Part): Field[] {
  if (!response) return []
  return messageFields('answer', textOf(response['status']), response)
}

function messageFields(name: string, firstLine: string, message: Readonly<Record<string, unknown>>): Field[] {
  const { headers, body, isTruncated } = message
  const lines = [
    firstLine,
    ...Object.entries((headers as object | undefined) ?? {}).map(
      ([header, value]) => `${textOf(header)}: ${textOf(value)}`,
    ),
    `${textOf(body)}${isTruncated === true ? ' …' : ''}`,
  ]
  return lines.map((line, index) => [index === 0 ? name : ' ', line])
}
