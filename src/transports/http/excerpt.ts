const redacted = '[redacted]'
const secretName =
  /authorization|cookie|token|secret|passw|credential|signature|api-?key|access-?key|private-?key|^sig$|^key$/i

/** Headers as they may be stored and shown: whatever is named like a secret is replaced. */
export function redactHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
): Record<string, string> {
  const shown: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue
    shown[name] = secretName.test(name)
      ? redacted
      : withoutNul(Array.isArray(value) ? value.join(', ') : value)
  }
  return shown
}

/** A URL as it may be stored and shown: query parameters named like a secret lose their values. */
export function redactUrl(url: URL): string {
  if (url.search === '') return url.href
  const shown = new URL(url)
  for (const name of new Set(shown.searchParams.keys())) {
    if (secretName.test(name)) shown.searchParams.set(name, redacted)
  }
  return shown.href
}

/** The beginning of a text, at most `maxBytes` of UTF-8, never ending inside a character. */
export function textExcerpt(text: string, maxBytes: number): { text: string; isTruncated: boolean } {
  // A UTF-16 unit is at most three bytes of UTF-8, so short texts need no counting.
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return { text, isTruncated: false }
  // No more units than bytes can fit, so the rest of a large text is never encoded.
  return { text: decodeExcerpt(Buffer.from(text.slice(0, maxBytes)), maxBytes), isTruncated: true }
}

/** Bytes as text that PostgreSQL can store: invalid UTF-8 and NUL become replacement characters. */
export function decodeExcerpt(bytes: Buffer, maxBytes: number): string {
  let end = Math.min(bytes.length, maxBytes)
  if (end < bytes.length) while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return withoutNul(bytes.toString('utf8', 0, end))
}

function withoutNul(text: string): string {
  return text.includes('\0') ? text.replaceAll('\0', '\ufffd') : text
}
