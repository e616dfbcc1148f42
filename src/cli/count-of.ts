/** @example countOf(1, 'deliveries') // '1 delivery' */
export function countOf(count: number, things: string): string {
  return `${count} ${count === 1 ? things.replace(/ies$/, 'y').replace(/s$/, '') : things}`
}
