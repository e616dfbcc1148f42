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
  let decoded = pathname
  for (let round = 0; round <= maxDecodings; round += 1) {
    // oxlint-disable-next-line no-control-regex -- they are what is looked for
    if (/[\\\u0000-\u001f\u007f#]/.test(decoded))
      return 'must be without backslashes, control characters and "#"'
    if (decoded.split('/').some(isDotSegment)) {
      return 'must be without "." and ".." between slashes, also in encoded form: it stays below the endpoint\'s URL'
    }
    const next = decodeOnce(decoded)
    if (next === decoded) return null
    decoded = next
  }
  return `must not be encoded more than ${maxDecodings} times`
}

/** Some servers interpret `..;name=value` as `..`. */
function isDotSegment(segment: string): boolean {
  return /^\.{1,2}(;.*)?$/.test(segment)
}

/** Byte by byte, like the most lenient server; invalid UTF-8 stays unchanged. */
function decodeOnce(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
}
