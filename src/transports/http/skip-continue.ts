const statusAt = 'HTTP/1.1 '.length
const blankLine = '\r\n\r\n'
const one = 0x31

/**
 * Removes every `100 Continue` from the beginning of a response. A server may send one without being asked (RFC 9110, 15.2), and undici then closes
 * the connection: a receiver that had accepted the message would get it again and again.
 */
export function skipContinue(bytes: Buffer): Buffer {
  let rest = bytes
  while (isContinue(rest)) {
    const end = rest.indexOf(blankLine)
    if (end === -1) break
    rest = rest.subarray(end + blankLine.length)
  }
  return rest
}

function isContinue(bytes: Buffer): boolean {
  // Compared as bytes, without creating a text, because this runs for every response.
  if (bytes[statusAt] !== one || bytes.length < statusAt + 3) return false
  return /^HTTP\/1\.[01] 100$/.test(bytes.toString('latin1', 0, statusAt + 3))
}
