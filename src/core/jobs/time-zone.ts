/** The problem of a time zone's name as a sentence; null if it is valid. */
export function problemOfTimeZone(name: string): string | null {
  try {
    Intl.DateTimeFormat('en', { timeZone: name })
    return null
  } catch {
    return `"${name}" is not a time zone that this system knows; use UTC or a name like Europe/Amsterdam`
  }
}
