import { numberArray } from './array-literal.ts'
import type { Database } from './database.ts'

/** A message as its deliveries need it. */
export type MessageRow = readonly [
  id: number,
  body: string,
  type: string | null,
  correlationId: string | null,
  headers: Record<string, string> | null,
  needsCheck: boolean,
  /** The rest only where it was asked for: a route's transform may want it. */
  tenant: string | null,
  metadata: Record<string, unknown> | null,
  createdAtMs: number | null,
]

const columns = `
  message.id, message.body::text, message.type, message.correlation_id, message.headers, message.needs_check,
  case when $1 then message.tenant end, case when $1 then message.metadata end,
  case when $1 then (extract(epoch from message.created_at) * 1000)::float8 end`

/**
 * Messages by id. What was published together has neighbouring ids, so that a thousand bodies are a few ranges of the primary key
 * instead of a thousand look-ups in it (2.4 µs each, measured). A body outlives its partition in messages_kept.
 * The limit tells the planner what an id range means; without it the guess is high enough for a JIT compilation of 17 ms.
 * Indexes: messages_pkey of each partition, messages_kept_pkey.
 */
export async function readMessages(
  database: Database,
  ids: Iterable<number>,
  isContextWanted: boolean,
): Promise<Map<number, MessageRow>> {
  const wanted = [...new Set(ids)].sort((first, second) => first - second)
  const ranges = toRanges(wanted)
  const rows = await database.queryArrays<MessageRow>(
    {
      name: 'read_messages',
      text: `
        select ${columns} from unnest($2::bigint[], $3::bigint[]) as range (low, high)
        cross join lateral (
          select * from holdfast.messages as stored where stored.id >= range.low and stored.id <= range.high
          limit range.high - range.low + 1
        ) as message`,
    },
    [isContextWanted, numberArray(ranges.lows), numberArray(ranges.highs)],
  )
  const messages = new Map(rows.map((row) => [row[0], row]))
  if (messages.size < wanted.length) {
    const missing = wanted.filter((id) => !messages.has(id))
    for (const row of await readKeptMessages(database, missing, isContextWanted)) messages.set(row[0], row)
  }
  return messages
}

async function readKeptMessages(
  database: Database,
  ids: readonly number[],
  isContextWanted: boolean,
): Promise<MessageRow[]> {
  return database.queryArrays<MessageRow>(
    {
      name: 'read_kept_messages',
      text: `select ${columns} from holdfast.messages_kept as message where message.id = any ($2::bigint[])`,
    },
    [isContextWanted, numberArray(ids)],
  )
}

/** Runs of neighbouring ids. */
function toRanges(sorted: readonly number[]): { lows: number[]; highs: number[] } {
  const lows: number[] = []
  const highs: number[] = []
  for (const id of sorted) {
    if (highs.at(-1) === id - 1) highs[highs.length - 1] = id
    else {
      lows.push(id)
      highs.push(id)
    }
  }
  return { lows, highs }
}
