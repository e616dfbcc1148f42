/** Bodies that are JSON already, as one array of them: no byte inside changes. */
export function joinAsJsonArray(bodies: readonly string[]): string {
  return `[${bodies.join(',')}]`
}
