import { formatId, timeOfId } from '../core/delivery/ids.ts'
import type { DeliveryRow } from '../storage/read-deliveries.ts'
import type { Message } from '../storage/read-messages.ts'
import type { SuccessRecord } from '../storage/settle.ts'
import type { Rendered } from '../transforms/transform.ts'
import type { Dispatch } from '../transports/transport.ts'
import type { Lane } from './lane.ts'

const standardCriticality = 1
const noHeaders: Readonly<Record<string, string>> = Object.freeze({})

/**
 * One delivery in memory, from its read to the commit of its result. It is also the transport's view of the delivery, and its success record. It has
 * few fields: thousands are created and dropped in a tenth of a second, and most leave the other fields at their defaults.
 */
export class Delivery implements Dispatch, SuccessRecord {
  readonly id: number
  readonly lane: Lane
  readonly #row: DeliveryRow
  readonly #message: Message | null

  /** The output of its route's transform for the current attempt. */
  rendering: Rendered | null = null
  /** The span of the current attempt, if tracing is on: the receiver's parent instead of the stored one. */
  traceparent: string | null = null
  /** Set when the attempt starts. */
  startedAtMs = 0
  breakerVersion = 0
  probeToken: string | null = null
  isRecordedSuspect = false
  /**
   * `ahead`: the delivery used the same-process fast path, and the arrivals cursor hasn't passed it yet;
   * `gone`: it has also ended before the cursor passed it.
   */
  arrival: 'read' | 'ahead' | 'gone' = 'read'
  /** Set when the delivery has succeeded. */
  durationMs = 0
  statusCode: number | null = null
  detail: object | null = null

  constructor(lane: Lane, row: DeliveryRow, message: Message | null) {
    this.lane = lane
    this.id = row[0]
    this.#row = row
    this.#message = message
  }

  get laneId(): number {
    return this.#row[1]
  }

  get priority(): number {
    return this.#row[2]
  }

  get size(): number {
    return this.#row[3]
  }

  get rowMessageId(): number {
    return this.#row[4] ?? this.id
  }

  get routeId(): number | null {
    return this.#row[5] ?? null
  }

  /** Attempts made before this one. */
  get attemptsMade(): number {
    return this.#row[6] ?? 0
  }

  /** Attempts made that don't count against the retry policy (failed probes). */
  get uncounted(): number {
    return this.#row[7] ?? 0
  }

  get criticality(): number {
    return this.#row[8] ?? standardCriticality
  }

  get isScheduled(): boolean {
    return (this.#row[9] ?? null) !== null
  }

  get expiresAtMs(): number | null {
    return this.#row[10] ?? null
  }

  get owedAtMs(): number | null {
    return this.#row[11] ?? null
  }

  get orderingKey(): string | null {
    return this.#row[12] ?? null
  }

  /** The payload and the sender's headers as they are stored. */
  get storedBody(): string {
    return this.#message?.body ?? 'null'
  }

  get storedHeaders(): Readonly<Record<string, string>> {
    return this.#message?.rest?.[2] ?? noHeaders
  }

  get eventType(): string | null {
    return this.#message?.rest?.[0] ?? null
  }

  get correlationId(): string | null {
    return this.#message?.rest?.[1] ?? null
  }

  get needsCheck(): boolean {
    return this.#message?.rest?.[3] ?? false
  }

  get tenant(): string | null {
    return this.#message?.rest?.[4] ?? null
  }

  get metadata(): Readonly<Record<string, unknown>> | null {
    return this.#message?.rest?.[5] ?? null
  }

  get createdAtMs(): number {
    return this.#message?.createdAtMs ?? 0
  }

  // Formatted on demand: an in-process handler that never reads them shouldn't pay for them.
  get deliveryId(): string {
    return formatId('dlv', this.id)
  }

  /** The id that receivers dedupe on: a replay, and a second delivery of one message to the same endpoint, have ids of their own. */
  get messageId(): string {
    const replayId = this.#row[15] ?? null
    if (replayId !== null) return formatId('msg', replayId)
    const id = formatId('msg', this.rowMessageId)
    const variant = this.#row[14] ?? 0
    return variant === 0 ? id : `${id}.${variant}`
  }

  get body(): string {
    return this.rendering?.body ?? this.storedBody
  }

  get headers(): Readonly<Record<string, string>> {
    if (this.rendering === null && this.traceparent === null) return this.storedHeaders
    return {
      ...this.storedHeaders,
      ...(this.rendering !== null && {
        ...this.rendering.headers,
        'content-type': this.rendering.contentType,
      }),
      ...(this.traceparent !== null && { traceparent: this.traceparent }),
    }
  }

  get endpoint(): string {
    return this.lane.name
  }

  get attempt(): number {
    return this.attemptsMade + 1
  }

  /** The time since when it has been pending, in database time. */
  get owedSinceMs(): number {
    return this.owedAtMs ?? timeOfId(this.id)
  }

  /** The same time with millisecond precision: ids follow the clock in steps of a second. A redrive has a younger id than its message. */
  get awaitedSinceMs(): number {
    return this.owedAtMs ?? Math.max(this.createdAtMs, timeOfId(this.id))
  }

  get transport(): string {
    return this.lane.transport
  }
}
