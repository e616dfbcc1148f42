/** What is wrong with the name of a time zone, in words; null when it can be used. */
export function problemOfTimeZone(name: string): string | null {
  try {
    Intl.DateTimeFormat('en', { timeZone: name })
    return null
  } catch {
    return `"${name}" is not a time zone that this system knows; use UTC or a name like Europe/Amsterdam`
  }
}
