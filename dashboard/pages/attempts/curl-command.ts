interface Request {
  readonly method?: string
  readonly url?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

const quote = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

/** The request as a command to paste into a shell. Secrets were redacted before it was stored. */
export function curlCommand({ method, url, headers, body }: Request): string {
  const parts = [`curl -X ${quote(method ?? 'POST')} ${quote(url ?? '')}`]
  for (const [name, value] of Object.entries(headers ?? {})) {
    parts.push(`-H ${quote(`${name}: ${value}`)}`)
  }
  if (body !== undefined && body !== '') parts.push(`--data-raw ${quote(body)}`)
  return parts.join(' \\\n  ')
}
