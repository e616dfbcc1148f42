import { numberArray } from './array-literal.ts'
import type { Database } from './database.ts'

/** A delivery as shown to users, whether it is pending or has ended. */
export interface DeliveryRecord {
  readonly id: number
  readonly messageId: number
  readonly endpoint: string | null
  readonly route: string | null
  readonly eventType: string | null
  readonly tenant: string | null
  readonly correlationId: string | null
  readonly state: 'pending' | 'succeeded' | 'dead' | 'expired' | 'cancelled' | 'dropped' | 'skipped'
  /** Number of attempts made. */
  readonly attempt: number
  /** Null if the delivery is ready, or has ended. */
  readonly nextAttemptAt: Date | null
  readonly expiresAt: Date | null
  readonly priority: number | null
  readonly criticality: number | null
  readonly orderingKey: string | null
  readonly deadLetterId: number | null
  /** The id that the receiver has seen, if the delivery is a replay. */
  readonly replayId: number | null
  /** When the last attempt began, or the ending was decided. */
  readonly lastAttemptAt: Date | null
  readonly statusCode: number | null
  readonly errorCode: string | null
  readonly error: string | null
}

/** In the order of the ids given; ids that are not deliveries are left out. Indexes: see holdfast_internal.describe_deliveries. */
export async function readDeliveryRecords(
  database: Database,
  ids: readonly number[],
): Promise<DeliveryRecord[]> {
  return database.query<DeliveryRecord>(
    {
      name: 'read_delivery_records',
      text: `
        select id, message_id as "messageId", endpoint, route, event_type as "eventType", tenant, correlation_id as "correlationId", state, attempt,
               next_attempt_at as "nextAttemptAt", expires_at as "expiresAt", priority, criticality, ordering_key as "orderingKey",
               dead_letter_id as "deadLetterId", replay_id as "replayId", last_attempt_at as "lastAttemptAt", status_code as "statusCode",
               error_code as "errorCode", error
        from holdfast_internal.describe_deliveries($1::bigint[]) as delivery order by array_position($1::bigint[], delivery.id)`,
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
  /** The request as rendered, the answer and the timings, as far as the endpoint captures them. */
  readonly detail: Record<string, unknown> | null
}

/** The first attempts of each delivery, in order. Index: attempts_pkey of one partition for each delivery. */
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
        from holdfast_internal.attempts_of($1::bigint[], $2) as tried
        order by tried.delivery_id, tried.attempt, tried.incarnation`,
    },
    [numberArray(deliveryIds), maxPerDelivery],
  )
}

/** The deliveries of one message, oldest first. Indexes: see holdfast_internal.deliveries_of. */
export async function findDeliveriesOf(
  database: Database,
  messageId: number,
  maxRows: number,
): Promise<readonly number[]> {
  const rows = await database.query<{ ids: readonly number[] }>(
    {
      name: 'find_deliveries_of',
      text: 'select holdfast_internal.deliveries_of($1, $2) as ids',
    },
    [messageId, maxRows],
  )
  return rows[0]?.ids ?? []
}
