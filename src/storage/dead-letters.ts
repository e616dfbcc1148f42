import { numberArray } from './array-literal.ts'
import type { Database } from './database.ts'

/** A dead letter in a list; its message's body and its attempts are read separately. */
export interface DeadLetterRow {
  readonly id: number
  readonly deliveryId: number
  readonly messageId: number
  readonly endpoint: string | null
  readonly job: string | null
  readonly queue: string | null
  readonly route: string | null
  readonly eventType: string | null
  readonly tenant: string | null
  readonly correlationId: string | null
  readonly state: 'open' | 'redriven' | 'resolved' | 'discarded' | 'erased'
  readonly reason: string
  readonly outcome: number
  readonly statusCode: number | null
  readonly errorCode: string | null
  readonly error: string | null
  readonly fingerprint: string
  readonly criticality: number
  readonly priority: number
  readonly orderingKey: string | null
  readonly blocksKey: boolean
  readonly attempts: number
  readonly redrives: number
  readonly resends: number
  readonly redrivenDeliveryId: number | null
  /** The id that the receiver has seen, if the delivery is a replay. */
  readonly replayId: number | null
  readonly createdAt: Date
  readonly settledAt: Date | null
  readonly settledBy: string | null
  readonly note: string | null
  readonly action: string | null
}

/** In the order of the ids given. Indexes: dead_letters_pkey, messages_pkey of one partition each. */
export async function readDeadLetters(database: Database, ids: readonly number[]): Promise<DeadLetterRow[]> {
  return database.query<DeadLetterRow>(
    {
      name: 'read_dead_letters',
      text: `
        select letter.id, letter.delivery_id as "deliveryId", letter.message_id as "messageId", endpoint.name as endpoint,
               case when queue.id is not null then message.type end as job, queue.name as queue, route.name as route, message.type as "eventType", message.tenant, letter.state, letter.reason,
               coalesce(message.correlation_id, case when message.is_run then holdfast.format_id('msg', letter.message_id) end) as "correlationId",
               letter.outcome, letter.status_code as "statusCode", letter.error_code as "errorCode", letter.error, letter.fingerprint,
               letter.criticality, letter.priority, letter.ordering_key as "orderingKey", letter.blocks_key as "blocksKey",
               letter.attempt as attempts, letter.redrives, letter.resends, letter.redriven_delivery_id as "redrivenDeliveryId", letter.replay_id as "replayId",
               letter.created_at as "createdAt", letter.settled_at as "settledAt", letter.settled_by as "settledBy", letter.note, letter.action
        from unnest($1::bigint[]) with ordinality as asked (id, place)
        cross join lateral (select * from holdfast_internal.dead_letters where id = asked.id limit 1) as letter
        left join lateral (select name from holdfast_internal.endpoints where id = letter.lane_id limit 1) as endpoint on true
        left join lateral (select id, name from holdfast_internal.queues where id = letter.lane_id limit 1) as queue on true
        left join lateral (select name from holdfast_internal.routes where id = letter.route_id limit 1) as route on true
        left join lateral (
          select type, tenant, correlation_id, is_run from holdfast_internal.messages where id = letter.message_id
          union all select type, tenant, correlation_id, is_run from holdfast_internal.messages_kept where id = letter.message_id limit 1
        ) as message on true
        order by asked.place`,
    },
    [numberArray(ids)],
  )
}

/** One attempt, as stored in the dead letter. */
export interface RememberedAttempt {
  readonly deliveryId: number | null
  readonly attempt: number
  readonly at: string
  readonly durationMs: number | null
  readonly outcome: number
  readonly status: number | null
  readonly isProbe: boolean
  readonly errorCode: string | null
  readonly error: string | null
}

export interface DeadLetterHistory {
  readonly attempts: readonly RememberedAttempt[]
  /** The last request as rendered, truncated and without secrets. */
  readonly request: Record<string, unknown> | null
  /** `x-death` of a run that the broker dead-lettered. */
  readonly brokerHistory: readonly Record<string, unknown>[] | null
}

/** Index: dead_letters_pkey. */
export async function readDeadLetterHistory(
  database: Database,
  id: number,
): Promise<DeadLetterHistory | undefined> {
  const rows = await database.query<DeadLetterHistory>(
    {
      name: 'read_dead_letter_history',
      text: 'select attempts, request, broker_history as "brokerHistory" from holdfast_internal.dead_letters where id = $1',
    },
    [id],
  )
  return rows[0]
}

export interface DeadLetterGroupRow {
  readonly fingerprint: string
  readonly laneId: number
  readonly endpoint: string | null
  readonly queue: string | null
  readonly count: number
  readonly firstSeenAt: Date
  readonly lastSeenAt: Date
  readonly sampleId: number
  readonly isComplete: boolean
  readonly reason: string
  readonly outcome: number
  readonly statusCode: number | null
  readonly errorCode: string | null
  readonly error: string | null
}

/**
 * Filters by endpoint, state and fingerprint count every dead letter. Any other filter is applied to the newest 10,000 that its index finds, and
 * `isComplete` says whether these were all. Indexes: see holdfast_internal.group_letters.
 */
export async function groupDeadLetters(
  database: Database,
  filter: object,
  maxGroups: number,
): Promise<DeadLetterGroupRow[]> {
  return database.query<DeadLetterGroupRow>(
    {
      name: 'group_dead_letters',
      text: `
        select found.fingerprint, found.lane_id as "laneId", endpoint.name as endpoint, queue.name as queue, found.letters as count, found.first_seen as "firstSeenAt",
               found.last_seen as "lastSeenAt", sample.id as "sampleId", found.is_complete as "isComplete", sample.reason, sample.outcome, sample.status_code as "statusCode",
               sample.error_code as "errorCode", sample.error
        from holdfast_internal.group_letters($1, $2) as found
        cross join lateral (select * from holdfast_internal.dead_letters where id = found.sample_id limit 1) as sample
        left join lateral (select name from holdfast_internal.endpoints where id = found.lane_id limit 1) as endpoint on true
        left join lateral (select name from holdfast_internal.queues where id = found.lane_id limit 1) as queue on true
        order by found.letters desc, found.sample_id desc`,
    },
    [JSON.stringify(filter), maxGroups],
  )
}

export interface DeadLetterSummaryRow {
  readonly endpoint: string | null
  readonly queue: string | null
  readonly dead: number
  readonly redriven: number
  readonly resolved: number
  readonly discarded: number
  readonly oldest: Date | null
  readonly newest: Date | null
}

/** One row for each endpoint and queue that has dead letters. Indexes: letter_counts_pkey, dead_letters_lane. */
export async function summariseDeadLetters(database: Database): Promise<DeadLetterSummaryRow[]> {
  return database.query<DeadLetterSummaryRow>(
    { name: 'summarise_dead_letters', text: 'select * from holdfast.dlq_summary()' },
    [],
  )
}

/** Returns the new delivery. Index: dead_letters_pkey. */
export async function redriveLetter(database: Database, id: string, actor: string): Promise<string> {
  const rows = await database.query<{ delivery: string }>(
    { name: 'redrive_message', text: 'select holdfast.redrive_message($1, $2) as delivery' },
    [id, actor],
  )
  return rows[0]?.delivery ?? ''
}

/** Index: dead_letters_pkey. */
export async function settleLetter(
  database: Database,
  id: string,
  settlement: {
    readonly state: 'resolved' | 'discarded'
    readonly note: string | null
    readonly action: string | null
  },
  actor: string,
): Promise<void> {
  await database.query(
    { name: 'settle_letter', text: 'select holdfast_internal.settle_letter($1, $2, $3, $4, $5)' },
    [id, settlement.state, settlement.note, settlement.action, actor],
  )
}
