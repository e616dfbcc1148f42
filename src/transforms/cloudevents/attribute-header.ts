/** Characters that the HTTP binding leaves unchanged: printable ASCII except space, double quote and percent. */
const needsEncoding = /[^\x21\x23\x24\x26-\x7e]/

/** Encodes an attribute's value for a header: other characters become their percent-encoded UTF-8 bytes. */
export function encodeAttributeHeader(value: string): string {
  if (!needsEncoding.test(value)) return value
  let encoded = ''
  for (const byte of Buffer.from(value, 'utf8')) {
    const character = String.fromCharCode(byte)
    encoded +=
      byte < 0x80 && !needsEncoding.test(character)
        ? character
        : `%${byte.toString(16).toUpperCase().padStart(2, '0')}`
  }
  return encoded
}
