import type { ClientBase } from 'pg'

/** Makes the partitions of this month and the next ones where they are missing; usually none is. Set a lock timeout first. */
export async function maintainPartitions(client: ClientBase, monthsAhead: number): Promise<number> {
  const { rows } = await client.query<{ created: number }>(
    'select holdfast.maintain_partitions($1) as created',
    [monthsAhead],
  )
  return rows[0]?.created ?? 0
}
