/** Used for a value without a prototype, a revoked proxy, or an object with a getter that throws. */
export const textOfUnreadable = 'a value that has no text'

/** The text of any thrown or logged value. Never throws, even if the value can't be inspected. */
export function thrownText(value: unknown): string {
  try {
    return value instanceof Error ? `${value.name}: ${value.message}` : String(value)
  } catch {
    return textOfUnreadable
  }
}

/** Replaces characters that PostgreSQL can't store. */
export function storableText(text: string): string {
  return text.replaceAll(/[\0\p{Surrogate}]/gu, '\ufffd')
}

const maxErrorLength = 4000

/** The error text that is stored for a thrown value. */
export function errorText(thrown: unknown): string {
  return storableText(thrownText(thrown)).slice(0, maxErrorLength)
}
