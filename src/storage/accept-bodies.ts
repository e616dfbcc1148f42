import { parseNumberSet } from './array-literal.ts'
import type { Queryable } from './queryable.ts'

/** Two database functions with the same effect: one takes the bodies as lines of a text, the other as an array. */
export interface BodyStore {
  readonly ofLines: 'accept_lines' | 'accept_run_lines'
  readonly ofArray: 'accept_messages' | 'accept_runs'
}

/**
 * Stores bodies for one endpoint or job, all or none, and returns their ids in order. Bodies are sent as lines of one text and ids returned as one
 * text, so that the publisher needn't quote a thousand array elements and parse a thousand rows.
 */
export async function acceptBodies(
  queryable: Queryable,
  { ofLines, ofArray }: BodyStore,
  target: string,
  bodies: readonly string[],
  options: readonly (object | null)[] | null,
): Promise<number[]> {
  if (bodies.length === 0) return []
  // JSON.stringify writes no line breaks; JSON text from a caller may have some.
  const isLines = !bodies.some((body) => body.includes('\n'))
  const result = await queryable.query({
    text: isLines
      ? `select holdfast_internal.${ofLines}($1, $2, $3::jsonb[])`
      : `select string_agg(id::text, ',') from holdfast_internal.${ofArray}($1, $2::text[], $3::jsonb[]) as id`,
    values: [
      target,
      isLines ? bodies.join('\n') : bodies,
      options === null ? null : options.map((each) => (each === null ? null : JSON.stringify(each))),
    ],
    rowMode: 'array',
  })
  const [row] = result.rows as [string][]
  if (row === undefined) throw new Error(`${ofLines} returned no row`)
  // Consecutive ids are returned as a set of ranges.
  return row[0].startsWith('{') ? parseNumberSet(row[0]) : row[0].split(',').map(Number)
}
