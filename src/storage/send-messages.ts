import { acceptBodies } from './accept-bodies.ts'
import type { Queryable } from './queryable.ts'

/** Stores messages for one endpoint, all or none, and returns their ids in order. A message to one endpoint and its delivery have the same id. */
export async function sendMessages(
  queryable: Queryable,
  endpoint: string,
  bodies: readonly string[],
  options: readonly (object | null)[] | null,
): Promise<number[]> {
  return acceptBodies(
    queryable,
    { ofLines: 'accept_lines', ofArray: 'accept_messages' },
    endpoint,
    bodies,
    options,
  )
}

export interface AcceptedBeside {
  readonly id: number
  readonly laneId: number
  /** The publisher's own node owns the lane, and no notification was sent. */
  readonly isPublishers: boolean
  readonly createdAtMs: number
}

/** Stores one plain message for a publisher whose process has a node, given by its incarnation. */
export async function sendMessageBeside(
  queryable: Queryable,
  endpoint: string,
  body: string,
  publisher: number,
): Promise<AcceptedBeside> {
  const result = await queryable.query({
    text: `
      select ids[1]::float8, lane, is_publishers, date_part('epoch', now()) * 1000
      from holdfast_internal.accept($1, array[$2::text], null, $3)`,
    values: [endpoint, body, publisher],
    rowMode: 'array',
  })
  const [row] = result.rows as [id: number, laneId: number, isPublishers: boolean, createdAtMs: number][]
  if (row === undefined) throw new Error('accept returned no row')
  const [id, laneId, isPublishers, createdAtMs] = row
  return { id, laneId, isPublishers, createdAtMs }
}

/** Refuses a batch that would exceed the global limit but is stored in parts, each of which is below it. */
export async function checkBound(queryable: Queryable, added: number): Promise<void> {
  await queryable.query({
    text: 'select holdfast_internal.check_bound($1)',
    values: [added],
    rowMode: 'array',
  })
}
