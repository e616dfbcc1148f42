/** The text of any value that can be thrown or logged, also of one that can't be looked at: it never throws. */
export function thrownText(value: unknown): string {
  try {
    return value instanceof Error ? `${value.name}: ${value.message}` : String(value)
  } catch {
    // Without a prototype, a revoked proxy, a getter that throws.
    return 'a value that has no text'
  }
}

/** Text that PostgreSQL can hold. */
export function storableText(text: string): string {
  return text.replaceAll(/[\0\p{Surrogate}]/gu, '\ufffd')
}
