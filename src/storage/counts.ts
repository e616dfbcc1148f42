import type { ClientBase } from 'pg'

/** Adds up appended changes of the dead-letter counts; returns the number of rows processed. Index: letter_counts_pkey. */
export async function addUpLetters(client: Pick<ClientBase, 'query'>, maxRows: number): Promise<number> {
  const { rows } = await client.query<{ taken: number }>(
    'select holdfast_internal.add_up_letters($1) as taken',
    [maxRows],
  )
  return rows[0]?.taken ?? 0
}

/** Counts the next rows of runs; returns fewer than `maxRows` if these were the last. Index: runs_pkey. */
export async function countQueues(client: Pick<ClientBase, 'query'>, maxRows: number): Promise<number> {
  const { rows } = await client.query<{ counted: number }>(
    'select holdfast_internal.count_queues($1) as counted',
    [maxRows],
  )
  return rows[0]?.counted ?? 0
}
