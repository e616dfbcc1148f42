import { numberArray } from './array-literal.ts'
import type { Database } from './database.ts'

/** A delivery as people look at it, whether it is still owed or not. */
export interface DeliveryRecord {
  readonly id: number
  readonly messageId: number
  readonly endpoint: string | null
  readonly route: string | null
  readonly eventType: string | null
  readonly tenant: string | null
  readonly correlationId: string | null
  readonly state: 'pending' | 'succeeded' | 'dead' | 'expired' | 'cancelled' | 'dropped'
  /** Attempts made. */
  readonly attempt: number
  /** Null when it is ready, or no longer owed. */
  readonly nextAttemptAt: Date | null
  readonly expiresAt: Date | null
  readonly priority: number | null
  readonly criticality: number | null
  readonly orderingKey: string | null
  readonly deadLetterId: number | null
  /** The number that its receiver knows it by, when it is a replay. */
  readonly replayId: number | null
  /** When the last attempt began, or the ending was decided. */
  readonly lastAttemptAt: Date | null
  readonly statusCode: number | null
  readonly errorCode: string | null
  readonly error: string | null
}

/**
 * In the order of the ids given. Each is looked up by itself (`limit 1` keeps the planner from joining whole tables). A success is a fact and wins; what is neither owed nor ended otherwise has died.
 * Indexes: deliveries_pkey, replays_ids, attempts_pkey of one partition each, dead_letters_delivery_id_key, dead_letters_redriven, messages_pkey.
 */
export async function readDeliveryRecords(
  database: Database,
  ids: readonly number[],
): Promise<DeliveryRecord[]> {
  return database.query<DeliveryRecord>(
    {
      name: 'read_delivery_records',
      text: `
        select asked.id, known."messageId", endpoint.name as endpoint, route.name as route, message.type as "eventType", message.tenant,
               message.correlation_id as "correlationId", known.state, coalesce(owed.attempt, tried.attempts, 0) as attempt,
               owed.due_at as "nextAttemptAt", owed.expires_at as "expiresAt", coalesce(owed.priority, letter.priority) as priority,
               coalesce(owed.criticality, letter.criticality) as criticality, coalesce(owed.ordering_key, letter.ordering_key) as "orderingKey",
               coalesce(owed.dead_letter_id, letter.id) as "deadLetterId",
               coalesce(owed.replay_id, letter.replay_id, case when holdfast_internal.is_replay(asked.id) then asked.id end) as "replayId", tried.started_at as "lastAttemptAt",
               case when tried.outcome is null then letter.status_code else tried.status_code end as "statusCode",
               case when tried.outcome is null then letter.error_code else tried.error_code end as "errorCode",
               case when tried.outcome is null then letter.error else tried.error end as error
        from unnest($1::bigint[]) with ordinality as asked (id, place)
        left join lateral (select * from holdfast_internal.deliveries where id = asked.id limit 1) as owed on true
        left join lateral (
          select * from holdfast_internal.dead_letters where delivery_id = asked.id
          union all select * from holdfast_internal.dead_letters where redriven_delivery_id = asked.id limit 1
        ) as letter on true
        left join lateral (
          select outcome, started_at, status_code, error_code, error, message_id, lane_id, route_id,
                 (count(*) over ()) - (count(*) filter (where outcome >= 10) over ()) as attempts
          from holdfast_internal.attempts where delivery_id = asked.id order by (outcome = 1) desc, attempt desc limit 1
        ) as tried on true
        cross join lateral (
          select coalesce(owed.message_id, letter.message_id, tried.message_id) as "messageId",
                 coalesce(owed.lane_id, letter.lane_id, tried.lane_id) as lane_id, coalesce(owed.route_id, letter.route_id, tried.route_id) as route_id,
                 case when tried.outcome = 1 then 'succeeded' when owed.id is not null then 'pending'
                      when tried.outcome >= 10 then holdfast_internal.outcome_word(tried.outcome) else 'dead' end as state
        ) as known
        left join lateral (select name from holdfast_internal.endpoints where id = known.lane_id limit 1) as endpoint on true
        left join lateral (select name from holdfast_internal.routes where id = known.route_id limit 1) as route on true
        left join lateral (
          select type, tenant, correlation_id from holdfast_internal.messages where id = known."messageId"
          union all select type, tenant, correlation_id from holdfast_internal.messages_kept where id = known."messageId" limit 1
        ) as message on true
        where known."messageId" is not null
        order by asked.place`,
    },
    [numberArray(ids)],
  )
}

export interface AttemptRecord {
  readonly deliveryId: number
  readonly attempt: number
  readonly startedAt: Date
  readonly durationMs: number | null
  readonly outcome: number
  readonly statusCode: number | null
  readonly isProbe: boolean
  readonly errorCode: string | null
  readonly error: string | null
  /** The request as it was rendered, the answer and where the time went; of attempts that failed. */
  readonly detail: Record<string, unknown> | null
}

/** The first of every delivery, in order. Index: attempts_pkey of one partition for each delivery. */
export async function readAttempts(
  database: Database,
  deliveryIds: readonly number[],
  maxPerDelivery: number,
): Promise<AttemptRecord[]> {
  return database.query<AttemptRecord>(
    {
      name: 'read_attempts',
      text: `
        select tried.delivery_id as "deliveryId", tried.attempt, tried.started_at as "startedAt", tried.duration_ms as "durationMs",
               tried.outcome, tried.status_code as "statusCode", tried.is_probe as "isProbe", tried.error_code as "errorCode", tried.error,
               tried.detail
        from unnest($1::bigint[]) as asked (id)
        cross join lateral (
          select * from holdfast_internal.attempts where delivery_id = asked.id order by attempt desc, incarnation desc limit $2
        ) as tried
        order by tried.delivery_id, tried.attempt, tried.incarnation`,
    },
    [numberArray(deliveryIds), maxPerDelivery],
  )
}

/** The deliveries that one message led to, oldest first. Indexes: deliveries_message, attempts_message, dead_letters_message and the primary keys. */
export async function findDeliveriesOf(
  database: Database,
  messageId: number,
  maxRows: number,
): Promise<readonly number[]> {
  const rows = await database.query<{ ids: readonly number[] }>(
    {
      name: 'find_deliveries_of',
      text: `
        select array(
          select distinct id from (
            select id from holdfast_internal.deliveries where id = $1 and message_id = $1
            union all select id from holdfast_internal.deliveries where message_id = $1 and message_id <> id
            union all select delivery_id from holdfast_internal.attempts where delivery_id = $1 and message_id = $1
            union all select delivery_id from holdfast_internal.attempts where message_id = $1 and message_id <> delivery_id
            union all select delivery_id from holdfast_internal.dead_letters where message_id = $1
          ) as every order by id limit $2
        ) as ids`,
    },
    [messageId, maxRows],
  )
  return rows[0]?.ids ?? []
}
