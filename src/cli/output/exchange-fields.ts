import { type Field, textOf } from './field-list.ts'

type Part = Readonly<Record<string, unknown>> | null | undefined

/** A request for people: its request line, headers and body. */
export function requestFields(request: Part): Field[] {
  if (!request) return []
  return messageFields('request', `${textOf(request['method'])} ${textOf(request['url'])}`, request)
}

/** The receiver's response: its status, headers and body. */
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
