/** How often a path is decoded before it counts as hiding something: proxies and servers decode once, some of them twice. */
const maxDecodings = 4

/**
 * What is wrong with a path that is to be appended to an endpoint's URL; null: nothing. It must stay below that URL however the servers on
 * its way read it: whoever may call an endpoint uses its credentials, and these are meant for what lies below.
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

/** Some servers take `..;name=value` for `..`. */
function isDotSegment(segment: string): boolean {
  return /^\.{1,2}(;.*)?$/.test(segment)
}

/** Byte by byte, as the most lenient server would; what is no UTF-8 stays what it is. */
function decodeOnce(text: string): string {
  return text.replaceAll(/%([0-9a-f]{2})/gi, (_, digits: string) =>
    String.fromCharCode(Number.parseInt(digits, 16)),
  )
}
