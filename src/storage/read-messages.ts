import { numberArray } from './array-literal.ts'
import type { Database } from './database.ts'

/** A message as its deliveries need it. */
export interface Message {
  readonly body: string
  readonly createdAtMs: number
  /** Null for a message without type, headers and the like. */
  readonly rest: MessageRest | null
}

export type MessageRest = readonly [
  type: string | null,
  correlationId: string | null,
  headers: Record<string, string> | null,
  needsCheck: boolean,
  /** The next two only if requested: a route's transform may need them. */
  tenant: string | null,
  metadata: Record<string, unknown> | null,
]

const rest = `
  json_build_array(
    message.type, message.correlation_id, message.headers, message.needs_check,
    case when $1 then message.tenant end, case when $1 then message.metadata end
  )::text`

const createdAtMs = `(date_part('epoch', message.created_at) * 1000)`

/** JSON text never contains this character unescaped, so it separates bodies. */
const separator = '\u0001'
/** JSON text never begins with this character, so it marks the other fields of a message, before its body. */
const restMark = '!'

/**
 * Messages by id. Messages published together have consecutive ids, so a thousand bodies are a few ranges of the primary key
 * instead of a thousand look-ups (2.4 µs each, measured), and each range is returned as one text. Messages missing in a range are
 * looked up one by one: a body may outlive its partition in messages_kept.
 * The limit tells the planner the size of an id range; without it the estimate is high enough for a JIT compilation of 17 ms.
 * Index: messages_pkey of each partition.
 */
export async function readMessages(
  database: Database,
  ids: Iterable<number>,
  isContextWanted: boolean,
): Promise<Map<number, Message>> {
  const { lows, highs } = toRanges([...new Set(ids)].sort((first, second) => first - second))
  const answers = await database.queryArrays<[number, number, string | null, string | null]>(
    {
      name: 'read_messages',
      text: `
        select asked.place::int, found.total, found.texts, found.times
        from unnest($2::bigint[], $3::bigint[]) with ordinality as asked (low, high, place)
        cross join lateral (
          select count(*)::int as total, string_agg(${createdAtMs}::text, ',') as times, string_agg(
            case when not $1 and message.type is null and message.correlation_id is null and message.headers is null and not message.needs_check
            then message.body::text else '${restMark}' || ${rest} || chr(1) || message.body::text end,
            chr(1)
          ) as texts
          from (
            select * from holdfast_internal.messages as stored where stored.id >= asked.low and stored.id <= asked.high
            order by stored.id limit asked.high - asked.low + 1
          ) as message
        ) as found`,
    },
    [isContextWanted, numberArray(lows), numberArray(highs)],
  )
  const messages = new Map<number, Message>()
  const missing: number[] = []
  for (const [place, total, texts, times] of answers) {
    const low = lows[place - 1] ?? 0
    const high = highs[place - 1] ?? 0
    if (total === high - low + 1 && texts !== null) takeRange(messages, low, texts, times)
    else for (let id = low; id <= high; id++) missing.push(id)
  }
  if (missing.length > 0) await readSingly(database, missing, isContextWanted, messages)
  return messages
}

function takeRange(messages: Map<number, Message>, low: number, texts: string, times: string | null): void {
  const pieces = texts.split(separator)
  const createdAt = JSON.parse(`[${times}]`) as number[]
  let at = 0
  for (let index = 0; index < createdAt.length; index++) {
    const piece = pieces[at++] ?? ''
    const isPlain = !piece.startsWith(restMark)
    messages.set(low + index, {
      body: detached(isPlain ? piece : (pieces[at++] ?? '')),
      createdAtMs: createdAt[index] ?? 0,
      rest: isPlain ? null : (JSON.parse(piece.slice(restMark.length)) as MessageRest),
    })
  }
}

/** A substring keeps the whole text in memory: one slow delivery would retain the bodies of all messages read with it. */
function detached(piece: string): string {
  return ` ${piece}`.slice(1)
}

/** Indexes: messages_pkey of each partition, messages_kept_pkey. */
async function readSingly(
  database: Database,
  ids: readonly number[],
  isContextWanted: boolean,
  messages: Map<number, Message>,
): Promise<void> {
  const rows = await database.queryArrays<[number, string, number, string]>(
    {
      name: 'read_messages_singly',
      text: `
        select message.id, message.body::text, ${createdAtMs}, ${rest} from (
          select * from holdfast_internal.messages where id = any ($2::bigint[])
          union all
          select * from holdfast_internal.messages_kept where id = any ($2::bigint[])
        ) as message`,
    },
    [isContextWanted, numberArray(ids)],
  )
  for (const [id, body, createdAt, restText] of rows) {
    messages.set(id, { body, createdAtMs: createdAt, rest: JSON.parse(restText) as MessageRest })
  }
}

/** Ranges of consecutive ids. */
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
