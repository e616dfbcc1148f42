export interface ListPage<Item> {
  readonly data: readonly Item[]
  readonly nextCursor?: string | null
}

/** A search that finds little in a large table goes on for so long; then the cursor continues it. */
const maxSearchMs = 5000

/**
 * A page with as many rows as were asked for. A page of the API may be short, or empty, and still have a next one, because each of its searches is
 * bounded; a table without rows would say that there are none.
 *
 * @example await readFullPage((query) => client.runs.list(query), { state: 'failed' }, 50)
 */
export async function readFullPage<Item>(
  read: (query: Readonly<Record<string, unknown>>) => Promise<ListPage<Item>>,
  query: Readonly<Record<string, unknown>>,
  limit: number,
  nowMs: () => number = () => performance.now(),
): Promise<ListPage<Item>> {
  const stopAtMs = nowMs() + maxSearchMs
  const first = await read(query)
  const data = [...first.data]
  let last = first
  while (typeof last.nextCursor === 'string' && data.length < limit && nowMs() < stopAtMs) {
    last = await read({ ...query, limit: limit - data.length, cursor: last.nextCursor })
    data.push(...last.data)
  }
  return { ...last, data }
}
