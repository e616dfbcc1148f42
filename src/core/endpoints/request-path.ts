/** How often a path is decoded before it is rejected as ambiguous: proxies and servers decode once, some of them twice. */
const maxDecodings = 4

/**
 * Returns the problem of a path that is appended to an endpoint's URL; null if there is none. However servers and proxies interpret the path, it must
 * stay below that URL: the request carries the endpoint's credentials, which are meant for paths below the URL.
 */
export function requestPathProblem(path: string): string | null {
  const [pathname = ''] = path.split('?', 1)
  if (/^[a-z][a-z0-9+.-]*:/i.test(pathname) || pathname.startsWith('//')) {
    return "must be a path below the endpoint's URL, such as orders/7?full=1, without a scheme or a host"
  }
  // One character for each byte from here on, as decoding gives bytes too.
  let decoded = utf8Bytes(pathname)
  for (let round = 0; round <= maxDecodings; round += 1) {
    if (overlong.test(decoded)) return 'must be without characters in overlong UTF-8, such as %c0%ae'
    const read = asLenientServer(decoded)
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    if (/[\\\u0000-\u001f\u007f#]/.test(read))
      return 'must be without backslashes, control characters and "#"'
    if (read.split('/').some(isDotSegment)) {
      return 'must be without "." and ".." between slashes, also in encoded form: it stays below the endpoint\'s URL'
    }
    const next = decodeOnce(decoded)
    if (next === decoded) return null
    decoded = next
  }
  return `must not be encoded more than ${maxDecodings} times`
}

/** A character in more bytes than it needs: lenient servers read `%c0%ae` as a dot, and some mask whatever byte follows. */
// oxlint-disable-next-line no-control-regex -- bytes are looked for
const overlong = /[\xc0\xc1]|\xe0[\x80-\x9f]|\xf0[\x80-\x8f]|[\xf8-\xfd]/

/** Not `Buffer`: clients check paths too, also in browsers. */
function utf8Bytes(text: string): string {
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join('')
}

/** Some servers read full-width and other look-alike characters as the ASCII ones that they resemble. */
function asLenientServer(bytes: string): string {
  const text = new TextDecoder().decode(Uint8Array.from(bytes, (byte) => byte.charCodeAt(0)))
  return text.normalize('NFKC')
}

/** Some servers interpret `..;name=value` as `..`. */
function isDotSegment(segment: string): boolean {
  return /^\.{1,2}(;.*)?$/.test(segment)
}

/** Byte by byte, like the most lenient server; also the nonstandard `%u002e`. Invalid UTF-8 stays unchanged. */
function decodeOnce(bytes: string): string {
  return bytes.replaceAll(/%u([0-9a-f]{4})|%([0-9a-f]{2})/gi, (_, unit?: string, byte?: string) =>
    unit === undefined
      ? String.fromCharCode(Number.parseInt(byte ?? '', 16))
      : utf8Bytes(String.fromCharCode(Number.parseInt(unit, 16))),
  )
}
