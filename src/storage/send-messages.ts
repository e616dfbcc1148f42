/** Anything that can run a query: our pool, or the caller's own client inside the caller's own transaction. */
export interface Sender {
  query(query: { text: string; values: unknown[]; rowMode: 'array' }): Promise<{ rows: unknown[] }>
}

/**
 * Stores messages for one endpoint, all or nothing, and returns their ids in order. A message to one endpoint and its delivery share
 * their number. Bodies travel as lines of one text and ids as another, which spares the publisher quoting a thousand array
 * elements and parsing a thousand rows.
 */
export async function sendMessages(
  sender: Sender,
  endpoint: string,
  bodies: readonly string[],
  options: readonly (object | null)[] | null,
): Promise<number[]> {
  if (bodies.length === 0) return []
  // JSON.stringify writes no line break; text that a person wrote may have some.
  const isLines = !bodies.some((body) => body.includes('\n'))
  const result = await sender.query({
    text: isLines
      ? 'select holdfast_internal.accept_lines($1, $2, $3::jsonb[])'
      : `select string_agg(id::text, ',') from holdfast_internal.accept_messages($1, $2::text[], $3::jsonb[]) as id`,
    values: [
      endpoint,
      isLines ? bodies.join('\n') : bodies,
      options === null ? null : options.map((each) => (each === null ? null : JSON.stringify(each))),
    ],
    rowMode: 'array',
  })
  const [row] = result.rows as [string][]
  if (row === undefined) throw new Error('accept_lines returned no row')
  return row[0].split(',').map(Number)
}

export interface AcceptedBeside {
  readonly id: number
  readonly laneId: number
  /** Its lane is the publisher's own, who hasn't been rung. */
  readonly isPublishers: boolean
  readonly createdAtMs: number
}

/** Stores one plain message, for a publisher whose process has a node, by its incarnation. */
export async function sendMessageBeside(
  sender: Sender,
  endpoint: string,
  body: string,
  publisher: number,
): Promise<AcceptedBeside> {
  const result = await sender.query({
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

/** Refuses a batch that is about to be stored in pieces, each of which alone would fit below the global bound. */
export async function checkBound(sender: Sender, added: number): Promise<void> {
  await sender.query({ text: 'select holdfast_internal.check_bound($1)', values: [added], rowMode: 'array' })
}
