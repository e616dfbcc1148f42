import { numberArray } from './array-literal.ts'
import type { Database } from './database.ts'

/**
 * A delivery as the lanes need it; its body is read separately. Fields at the end are left out if they have the usual value: that of a
 * first attempt of a message sent directly to its endpoint, without options.
 */
export type DeliveryRow = readonly [
  id: number,
  laneId: number,
  priority: number,
  size: number,
  messageId?: number,
  routeId?: number | null,
  attempt?: number,
  uncounted?: number,
  criticality?: number,
  dueAtMs?: number | null,
  expiresAtMs?: number | null,
  owedAtMs?: number | null,
  orderingKey?: string | null,
  /** No older delivery of its ordering key is pending, and no dead letter blocks the key; or the delivery is the redrive of that dead letter. */
  isHead?: boolean,
  variant?: number,
  replayId?: number | null,
]

/** The full row, with the fields that were left out. */
export const laneIdOf = (row: DeliveryRow): number => row[1]
export const priorityOf = (row: DeliveryRow): number => row[2]
export const sizeOf = (row: DeliveryRow): number => row[3]
export const messageIdOf = (row: DeliveryRow): number => row[4] ?? row[0]
export const routeIdOf = (row: DeliveryRow): number | null => row[5] ?? null
export const orderingKeyOf = (row: DeliveryRow): string | null => row[12] ?? null
export const isHeadOf = (row: DeliveryRow): boolean => row[13] ?? true

const lastId = '9223372036854775807'

/**
 * The ranges below compare whole rows of index columns and order by all of them, so only the named index can serve
 * them. With plain equalities the planner may scan the primary key in id order, through every other lane's backlog, as
 * soon as its statistics say that one lane owns most of the table.
 */
const oldestOwed = (lane: string, key: string, upTo: string) => `
  select line.id from holdfast_internal.deliveries as line
  where line.ordering_key is not null
    and (line.ordering_key, line.lane_id, line.id) > (${key}, ${lane}, 0::bigint)
    and (line.ordering_key, line.lane_id, line.id) <= (${key}, ${lane}, ${upTo})
  order by line.ordering_key, line.lane_id, line.id limit 1`

/**
 * The one delivery of a key that may be sent. A dead letter that blocks the key has the position of its delivery: older deliveries come before it,
 * then its redrive (nothing while there is none), then the rest. It may have died before the older ones were sent, when the endpoint was full.
 */
const headOfKey = (lane: string, key: string, upTo: string) => `
  coalesce(
    (
      select coalesce((${oldestOwed(lane, key, 'letter.delivery_id')}), letter.redriven_delivery_id, 0)
      from holdfast_internal.dead_letters as letter
      where letter.blocks_key and letter.settled_at is null
        and (letter.ordering_key, letter.lane_id, letter.delivery_id) > (${key}, ${lane}, 0::bigint)
        and (letter.ordering_key, letter.lane_id, letter.delivery_id) <= (${key}, ${lane}, ${lastId})
      order by letter.ordering_key, letter.lane_id, letter.delivery_id limit 1
    ),
    (${oldestOwed(lane, key, upTo)})
  )`

const isHead = `
  (taken.ordering_key is null or taken.id = ${headOfKey('taken.lane_id', 'taken.ordering_key', 'taken.id')}) as is_head`

/**
 * Rows are sent as one JSON text per request: sixteen columns a row took the server 1 µs and this process 3 µs to
 * write and parse; four numbers in a text take a tenth of that.
 */
const rowAsText = `
    case when owed.message_id = owed.id and owed.route_id is null and owed.attempt = 0 and owed.uncounted = 0 and owed.criticality = 1
      and owed.due_at is null and owed.expires_at is null and owed.owed_at is null and owed.ordering_key is null
      and owed.variant = 0 and owed.replay_id is null
    then concat('[', owed.id, ',', owed.lane_id, ',', owed.priority, ',', owed.size, ']')
    else json_build_array(
      owed.id, owed.lane_id, owed.priority, owed.size, owed.message_id, owed.route_id, owed.attempt, owed.uncounted, owed.criticality,
      date_part('epoch', owed.due_at) * 1000, date_part('epoch', owed.expires_at) * 1000, date_part('epoch', owed.owed_at) * 1000,
      owed.ordering_key, owed.is_head, owed.variant, owed.replay_id
    )::text end`

function parseRows(text: string | null | undefined): DeliveryRow[] {
  return text === null || text === undefined ? [] : (JSON.parse(`[${text}]`) as DeliveryRow[])
}

/** One text per request, numbered from 1. */
function parseAnswers(answers: readonly (readonly [place: number, rows: string | null])[], requests: number) {
  const rows: DeliveryRow[][] = Array.from({ length: requests }, () => [])
  for (const [place, text] of answers) rows[place - 1] = parseRows(text)
  return rows
}

export interface StreamRequest {
  readonly laneId: number
  readonly priority: number
  readonly after: number
  readonly maxRows: number
}

/**
 * The next ready deliveries of each stream (a lane's deliveries of one priority), up to the arrivals cursor: rows beyond it haven't been seen
 * under a snapshot yet. Results are in the order of the requests. Index: deliveries_ready; `lane_id <=` because with `=` each read would
 * start at the lane's first entry, including dead ones, not at the cursor.
 */
export async function readStreams(
  database: Database,
  requests: readonly StreamRequest[],
  upTo: number,
): Promise<DeliveryRow[][]> {
  const answers = await database.queryArrays<[number, string | null]>(
    {
      name: 'read_streams',
      text: `
        select asked.place::int, (
          select string_agg(${rowAsText}, ',') from (select taken.*, ${isHead} from (
            select line.* from holdfast_internal.deliveries as line
            where line.due_at is null and line.lane_id <= asked.lane_id
              and (line.lane_id, line.priority, line.id) > (asked.lane_id, asked.priority, asked.after)
              and (line.lane_id, line.priority, line.id) <= (asked.lane_id, asked.priority, $5::bigint)
            order by line.lane_id, line.priority, line.id limit asked.max_rows
          ) as taken) as owed
        )
        from unnest($1::int[], $2::int[], $3::bigint[], $4::int[]) with ordinality as asked (lane_id, priority, after, max_rows, place)`,
    },
    [
      numberArray(requests.map((request) => request.laneId)),
      numberArray(requests.map((request) => request.priority)),
      numberArray(requests.map((request) => request.after)),
      numberArray(requests.map((request) => request.maxRows)),
      upTo,
    ],
  )
  return parseAnswers(answers, requests.length)
}

export interface DueRequest {
  readonly laneId: number
  readonly maxRows: number
  /** Deliveries that were due before this time have been read. */
  readonly fromMs: number
}

/**
 * Scheduled deliveries that are due by the database's clock, the longest due first. Results are in the order of the requests,
 * with the time up to which they are complete. Index: deliveries_due.
 */
export async function readDue(
  database: Database,
  requests: readonly DueRequest[],
): Promise<{ readonly rows: DeliveryRow[][]; readonly upToMs: number }> {
  const answers = await database.queryArrays<[number, string | null, number]>(
    {
      name: 'read_due',
      text: `
        select asked.place::int, (
          select string_agg(${rowAsText}, ',') from (select taken.*, ${isHead} from (
            select line.* from holdfast_internal.deliveries as line
            where line.lane_id = asked.lane_id and line.due_at >= to_timestamp(asked.from_ms / 1000) and line.due_at <= now()
            order by line.lane_id, line.due_at, line.id limit asked.max_rows
          ) as taken) as owed
        ), (extract(epoch from now()) * 1000)::float8
        from unnest($1::int[], $2::int[], $3::float8[]) with ordinality as asked (lane_id, max_rows, from_ms, place)`,
    },
    [
      numberArray(requests.map((request) => request.laneId)),
      numberArray(requests.map((request) => request.maxRows)),
      numberArray(requests.map((request) => request.fromMs)),
    ],
  )
  const rows = parseAnswers(
    answers.map(([place, text]) => [place, text]),
    requests.length,
  )
  return { rows, upToMs: answers[0]?.[2] ?? Number.NEGATIVE_INFINITY }
}

/** When each lane's next scheduled delivery is due, after those that are due now. Index: deliveries_due, one entry per lane. */
export async function readNextDue(
  database: Database,
  laneIds: readonly number[],
): Promise<readonly (readonly [laneId: number, dueAtMs: number | null])[]> {
  return database.queryArrays<[number, number | null]>(
    {
      name: 'read_next_due',
      text: `
        select asked.lane_id, (
          select (extract(epoch from line.due_at) * 1000)::float8 from holdfast_internal.deliveries as line
          where line.lane_id = asked.lane_id and line.due_at > now() order by line.due_at limit 1
        ) from unnest($1::int[]) as asked (lane_id)`,
    },
    [numberArray(laneIds)],
  )
}

/** Deliveries by id, regardless of cursors. Index: deliveries_pkey. */
export async function readByIds(database: Database, ids: readonly number[]): Promise<DeliveryRow[]> {
  const answers = await database.queryArrays<[string | null]>(
    {
      name: 'read_by_ids',
      text: `
        with owed as materialized (
          select taken.*, ${isHead} from holdfast_internal.deliveries as taken
          where taken.id = any ($1::bigint[]) and (taken.due_at is null or taken.due_at <= now())
        )
        select string_agg(${rowAsText}, ',' order by owed.priority desc, owed.id) from owed`,
    },
    [numberArray(ids)],
  )
  return parseRows(answers[0]?.[0])
}

/**
 * The first delivery of each ordering key that has just become free: its oldest one, or the redrive of the dead letter that blocks it. A delivery
 * that isn't due yet is left out. Indexes: deliveries_keyed, dead_letters_blocking.
 */
export async function readKeyHeads(
  database: Database,
  keys: readonly { readonly laneId: number; readonly key: string }[],
): Promise<DeliveryRow[]> {
  const answers = await database.queryArrays<[string | null]>(
    {
      name: 'read_key_heads',
      text: `
        with owed as materialized (
          select taken.*, true as is_head
          from unnest($1::int[], $2::text[]) as asked (lane_id, key)
          cross join lateral (
            select head.* from holdfast_internal.deliveries as head
            where head.id = ${headOfKey('asked.lane_id', 'asked.key', lastId)}
            limit 1
          ) as taken
          where taken.due_at is null or taken.due_at <= now()
        )
        select string_agg(${rowAsText}, ',' order by owed.priority desc, owed.id) from owed`,
    },
    [numberArray(keys.map((each) => each.laneId)), keys.map((each) => each.key)],
  )
  return parseRows(answers[0]?.[0])
}

/**
 * Removes due deliveries that wait for an older one of their key from the schedule: they are found when they become the first of their key, and
 * should not be read by every read of due deliveries. Index: deliveries_pkey.
 */
export async function parkBehindKey(database: Database, ids: readonly number[]): Promise<void> {
  await database.query(
    {
      name: 'park_behind_key',
      text: `
        update holdfast_internal.deliveries set due_at = null where id = any (array(
          select one.id from (select id, ordering_key, due_at from holdfast_internal.deliveries where id = any ($1::bigint[]) order by id for update) as one
          where one.ordering_key is not null and one.due_at <= now()
        ))`,
    },
    [numberArray(ids)],
  )
}
