/** A value of the address as text; undefined when there is none. `?q=17` comes as a number. */
export function searchText(value: unknown): string | undefined {
  if (value === undefined || value === null || value === '') return undefined
  return typeof value === 'string' ? value : JSON.stringify(value)
}
