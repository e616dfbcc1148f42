/** Stands for a value without a prototype, a revoked proxy, one with a getter that throws. */
export const textOfUnreadable = 'a value that has no text'

/** The text of any value that can be thrown or logged, also of one that can't be looked at: it never throws. */
export function thrownText(value: unknown): string {
  try {
    return value instanceof Error ? `${value.name}: ${value.message}` : String(value)
  } catch {
    return textOfUnreadable
  }
}

/** Text that PostgreSQL can hold. */
export function storableText(text: string): string {
  return text.replaceAll(/[\0\p{Surrogate}]/gu, '\ufffd')
}

const maxErrorLength = 4000

/** What is stored of a value that was thrown. */
export function errorText(thrown: unknown): string {
  return storableText(thrownText(thrown)).slice(0, maxErrorLength)
}
