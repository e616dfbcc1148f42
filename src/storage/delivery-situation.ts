import type { Database } from './database.ts'

/** Everything that determines when a pending delivery is sent. */
export interface DeliverySituation {
  readonly endpoint: string
  readonly state: 'active' | 'paused' | 'rejecting' | 'disabled'
  readonly reason: string | null
  readonly stateChangedAt: Date
  /** Who stopped the endpoint, if it is stopped. */
  readonly stoppedBy: string | null
  readonly circuit: 'closed' | 'open' | 'half_open'
  readonly failures: number
  readonly openedAt: Date | null
  readonly probeAt: Date | null
  readonly heldUntil: Date | null
  readonly holdReason: string | null
  readonly dueAt: Date | null
  readonly expiresAt: Date | null
  readonly owedAt: Date
  readonly orderingKey: string | null
  /** The first delivery of its ordering key, if that is another one. */
  readonly aheadId: number | null
  /** Counted up to a thousand, as is `behind`. */
  readonly ahead: number
  readonly behind: number
  readonly blockingLetterId: number | null
  readonly attempt: number
  /** Attempts that used no retry: probes, throttled ones. */
  readonly uncounted: number
  readonly pending: number
  readonly inFlight: number
  readonly settings: {
    readonly retry: { readonly maxRetries: number; readonly giveUpAfterMs: number }
    readonly limits: { readonly concurrency: number; readonly ratePerSecond: number | null }
  }
  readonly shard: number
  readonly node: string | null
  readonly isNodeAlive: boolean
}

/** Returns undefined if the delivery isn't pending. Indexes: see holdfast_internal.delivery_situation. */
export async function readDeliverySituation(
  database: Database,
  id: number,
): Promise<DeliverySituation | undefined> {
  const rows = await database.query<DeliverySituation>(
    {
      name: 'read_delivery_situation',
      text: `
        select endpoint, state, reason, state_changed_at as "stateChangedAt", stopped_by as "stoppedBy", circuit, failures,
               opened_at as "openedAt", probe_at as "probeAt", held_until as "heldUntil", hold_reason as "holdReason", due_at as "dueAt",
               expires_at as "expiresAt", owed_at as "owedAt", ordering_key as "orderingKey", ahead_id as "aheadId", ahead, behind,
               blocking_letter_id as "blockingLetterId", attempt, uncounted, pending, in_flight as "inFlight", settings, shard, node,
               is_node_alive as "isNodeAlive"
        from holdfast_internal.delivery_situation($1)`,
    },
    [id],
  )
  return rows[0]
}
