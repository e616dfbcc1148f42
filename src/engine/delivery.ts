import { formatId, timeOfId } from '../core/ids.ts'
import type { DeliveryRow } from '../storage/read-deliveries.ts'
import type { MessageRow } from '../storage/read-messages.ts'
import type { Rendered } from '../transforms/transform.ts'
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
  /** The sender's headers and the payload as they are stored. */
  readonly storedHeaders: Readonly<Record<string, string>>
  readonly storedBody: string
  readonly needsCheck: boolean
  readonly tenant: string | null
  readonly metadata: Readonly<Record<string, unknown>> | null
  readonly createdAtMs: number
  readonly #variant: number

  /** What its route's transform made of it, for the attempt at hand. */
  rendering: Rendered | null = null
  /** Set when the attempt starts. */
  startedAtMs = 0
  breakerVersion = 0
  probeToken: string | null = null
  isRecordedSuspect = false

  constructor(lane: Lane, row: DeliveryRow, message: MessageRow | null) {
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
    this.#variant = row[14]
    this.storedBody = message?.[1] ?? 'null'
    this.eventType = message?.[2] ?? null
    this.correlationId = message?.[3] ?? null
    this.storedHeaders = message?.[4] ?? noHeaders
    this.needsCheck = message?.[5] ?? false
    this.tenant = message?.[6] ?? null
    this.metadata = message?.[7] ?? null
    this.createdAtMs = message?.[8] ?? 0
  }

  // Formatted when asked for: an in-process handler that never looks at them shouldn't pay for them.
  get deliveryId(): string {
    return formatId('dlv', this.id)
  }

  /** The second way of one message to one endpoint needs an id of its own: receivers dedupe on it. */
  get messageId(): string {
    const id = formatId('msg', this.rowMessageId)
    return this.#variant === 0 ? id : `${id}.${this.#variant}`
  }

  get body(): string {
    return this.rendering?.body ?? this.storedBody
  }

  get headers(): Readonly<Record<string, string>> {
    if (this.rendering === null) return this.storedHeaders
    return { ...this.storedHeaders, ...this.rendering.headers, 'content-type': this.rendering.contentType }
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
