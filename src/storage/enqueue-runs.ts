import type { Sender } from './send-messages.ts'

/**
 * Stores runs of one job, all or none, and returns their ids in order: also in the caller's own transaction. Bodies travel as lines of
 * one text; see sendMessages.
 */
export async function enqueueRuns(
  sender: Sender,
  job: string,
  bodies: readonly string[],
  options: readonly (object | null)[] | null,
): Promise<number[]> {
  if (bodies.length === 0) return []
  const isLines = !bodies.some((body) => body.includes('\n'))
  const result = await sender.query({
    text: isLines
      ? 'select holdfast.accept_run_lines($1, $2, $3::jsonb[])'
      : `select string_agg(id::text, ',') from holdfast.accept_runs($1, $2::text[], $3::jsonb[]) as id`,
    values: [
      job,
      isLines ? bodies.join('\n') : bodies,
      options === null ? null : options.map((each) => (each === null ? null : JSON.stringify(each))),
    ],
    rowMode: 'array',
  })
  const [row] = result.rows as [string][]
  if (row === undefined) throw new Error('accept_run_lines returned no row')
  return row[0].split(',').map(Number)
}
