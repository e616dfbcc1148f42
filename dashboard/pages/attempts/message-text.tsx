import { visibleText } from '../../parts/visible-text.ts'

/** A request or an answer, as an attempt or a test records it. */
export interface Message {
  readonly method?: string
  readonly url?: string
  readonly status?: number
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  readonly isTruncated?: boolean
}

const maxShown = 2000

/** As it travels over HTTP: first line, headers, body. */
export function MessageText({
  message,
  label,
  first,
}: {
  readonly message: Message
  readonly label: string
  readonly first: string
}) {
  const body = message.body ?? ''
  return (
    <pre className="code wrap" tabIndex={0} role="region" aria-label={label}>
      <bdi>{visibleText(first)}</bdi>
      {'\n'}
      {Object.entries(message.headers ?? {}).map(([name, value]) => (
        <span key={name}>
          <span className="punctuation">{visibleText(name)}: </span>
          <bdi>{visibleText(value)}</bdi>
          {'\n'}
        </span>
      ))}
      {body !== '' && (
        <>
          {'\n'}
          <bdi>{visibleText(body.slice(0, maxShown))}</bdi>
          {(body.length > maxShown || message.isTruncated === true) && (
            <span className="punctuation"> … cut here</span>
          )}
        </>
      )}
    </pre>
  )
}
