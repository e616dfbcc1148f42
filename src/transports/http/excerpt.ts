import { harmlessText } from './harmless-text.ts'

export const redacted = '[redacted]'
const secretName =
  /authorization|cookie|token|secret|passw|credential|signature|api-?key|access-?key|private-?key|^sig$|^key$/i

/** Longer headers are rarely read. */
const maxHeaderCharacters = 32 * 1024

const none: ReadonlySet<string> = new Set()

/**
 * Headers for storing and showing: values of headers that are named like a secret, or are in `secretHeaders` (in lower
 * case), are replaced, and headers beyond 32 KiB are left out.
 */
export function redactHeaders(
  headers: Readonly<Record<string, string | string[] | undefined>>,
  secretHeaders: ReadonlySet<string> = none,
): Record<string, string> {
  const shown: Record<string, string> = {}
  let roomCharacters = maxHeaderCharacters
  for (const [name, value] of Object.entries(headers)) {
    if (value === undefined) continue
    roomCharacters -= name.length + String(value).length
    if (roomCharacters < 0) break
    shown[name] =
      secretHeaders.has(name) || secretName.test(name)
        ? redacted
        : harmlessText(Array.isArray(value) ? value.join(', ') : value)
  }
  return shown
}

/**
 * A URL for storing and showing: values of the query parameters of the endpoint's own URL, and of those named like a secret,
 * are replaced. Of a URL with a secret path only the origin is kept.
 */
export function redactUrl(
  url: URL,
  secretParameters: ReadonlySet<string> = none,
  isPathSecret = false,
): string {
  if (isPathSecret) return `${url.origin}/${encodeURIComponent(redacted)}`
  if (url.search === '') return url.href
  const shown = new URL(url)
  shown.search = url.search
    .slice(1)
    .split('&')
    .map((part) => redactParameter(part, secretParameters))
    .join('&')
  return shown.href
}

function redactParameter(part: string, secretParameters: ReadonlySet<string>): string {
  const [name = ''] = new URLSearchParams(part).keys()
  const [written = '', value] = part.split(/=(.*)/s)
  // A parameter without `=` consists of a value only.
  if (secretParameters.has(name) && value === undefined) return encodeURIComponent(redacted)
  const isSecret = secretParameters.has(name) || secretName.test(name)
  return isSecret ? `${written}=${encodeURIComponent(redacted)}` : part
}

/** The beginning of a text, at most `maxBytes` of UTF-8, never cut inside a character. */
export function textExcerpt(text: string, maxBytes: number): { text: string; isTruncated: boolean } {
  // A UTF-16 unit is at most three bytes of UTF-8, so short texts need no counting.
  if (text.length * 3 <= maxBytes || Buffer.byteLength(text) <= maxBytes) return { text, isTruncated: false }
  // At most as many UTF-16 units as bytes can fit, so the rest of a large text is never encoded.
  return { text: decodeExcerpt(Buffer.from(text.slice(0, maxBytes)), maxBytes), isTruncated: true }
}

/** A receiver's response as harmless text: invalid bytes become replacement characters, which count with their own length. */
export function responseExcerpt(bytes: Buffer, maxBytes: number): { text: string; isTruncated: boolean } {
  return textExcerpt(harmlessText(decodeExcerpt(bytes, maxBytes)), maxBytes)
}

/** Never cuts inside a character. */
function decodeExcerpt(bytes: Buffer, maxBytes: number): string {
  let end = Math.min(bytes.length, maxBytes)
  if (end < bytes.length) while (end > 0 && ((bytes[end] ?? 0) & 0xc0) === 0x80) end -= 1
  return bytes.toString('utf8', 0, end)
}
