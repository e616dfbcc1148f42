/** A moment as `<input type="datetime-local">` holds it. */
export function toField(at: Date, zone: 'local' | 'utc'): string {
  const offsetMs = zone === 'utc' ? 0 : at.getTimezoneOffset() * 60_000
  return new Date(at.getTime() - offsetMs).toISOString().slice(0, 19)
}

/** Null when it is none. */
export function fromField(text: string, zone: 'local' | 'utc'): Date | null {
  const at = new Date(zone === 'utc' ? `${text}Z` : text)
  return text === '' || Number.isNaN(at.getTime()) ? null : at
}
