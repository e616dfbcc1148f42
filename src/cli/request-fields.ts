import { type Field, textOf } from './field-list.ts'

/** A request as one reads it: its line, its headers, its body. */
export function requestFields(request: Readonly<Record<string, unknown>> | null): Field[] {
  if (request === null) return []
  const { method, url, headers, body, isTruncated } = request
  const lines = [
    `${textOf(method)} ${textOf(url)}`,
    ...Object.entries((headers as object | undefined) ?? {}).map(
      ([name, value]) => `${textOf(name)}: ${textOf(value)}`,
    ),
    `${textOf(body)}${isTruncated === true ? ' …' : ''}`,
  ]
  return lines.map((line, index) => [index === 0 ? 'request' : ' ', line])
}
