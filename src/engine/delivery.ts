import { formatId, timeOfId } from '../core/ids.ts'
import type { DeliveryRow } from '../storage/read-deliveries.ts'
import type { Dispatch } from '../transports/transport.ts'
import type { Lane } from './lane.ts'

const noHeaders: Readonly<Record<string, string>> = Object.freeze({})

/** One delivery in memory, from its read to the commit of its result. It is also what its transport sees of it. */
export class Delivery implements Dispatch {
  readonly id: number
  readonly lane: Lane
  readonly rowMessageId: number
  readonly routeId: number | null
  /** Attempts made before this one. */
  readonly attemptsMade: number
  /** Attempts made that don't count against the retry policy (failed probes). */
  readonly uncounted: number
  readonly size: number
  readonly priority: number
  readonly criticality: number
  readonly isScheduled: boolean
  readonly expiresAtMs: number | null
  readonly owedAtMs: number | null
  readonly orderingKey: string | null
  readonly eventType: string | null
  readonly correlationId: string | null
  readonly headers: Readonly<Record<string, string>>
  readonly body: string

  /** Set when the attempt starts. */
  startedAtMs = 0
  breakerVersion = 0
  probeToken: string | null = null
  isRecordedSuspect = false

  constructor(lane: Lane, row: DeliveryRow) {
    this.lane = lane
    this.id = row[0]
    this.rowMessageId = row[1]
    this.routeId = row[3]
    this.attemptsMade = row[4]
    this.uncounted = row[5]
    this.size = row[6]
    this.priority = row[7]
    this.criticality = row[8]
    this.isScheduled = row[9] !== null
    this.expiresAtMs = row[10]
    this.owedAtMs = row[11]
    this.orderingKey = row[12]
    this.eventType = row[14]
    this.correlationId = row[15]
    this.headers = row[16] ?? noHeaders
    this.body = row[17] ?? 'null'
  }

  // Formatted when asked for: an in-process handler that never looks at them shouldn't pay for them.
  get deliveryId(): string {
    return formatId('dlv', this.id)
  }

  get messageId(): string {
    return formatId('msg', this.rowMessageId)
  }

  get endpoint(): string {
    return this.lane.name
  }

  get attempt(): number {
    return this.attemptsMade + 1
  }

  /** Since when it has been owed, in database time. */
  get owedSinceMs(): number {
    return this.owedAtMs ?? timeOfId(this.id)
  }
}
