import type { HoldfastClient } from '../../client/holdfast-client.ts'
import { operations } from '../../contract/operations.ts'
import type { Holdfast } from '../../sdk/holdfast.ts'
import { RawJson } from '../../sdk/raw-json.ts'

export interface ImportedEvent {
  readonly type: string
  /** JSON text, which has been parsed already. */
  readonly body: string
  readonly key: string
}

/** The target of imported events. */
export interface ImportTarget {
  /** Distinguishes checkpoints of imports into different targets; contains no password. */
  readonly name: string
  /** Maximum of batches in flight: enough to keep the target busy. */
  readonly maxInFlight: number
  /** Stores all events or none; returns how many deliveries were created. */
  publish(events: readonly ImportedEvent[]): Promise<number>
  /** Number of pending deliveries, over all endpoints. */
  pending(): Promise<number>
}

export function apiTarget(client: HoldfastClient, url: string): ImportTarget {
  return {
    name: url,
    maxInFlight: 4,
    async publish(events) {
      const stored = await client.publishBatch(toBatch(events))
      return stored.reduce((sum, { deliveries }) => sum + deliveries, 0)
    },
    async pending() {
      const { totals } = await client.call(operations.overview.get, {})
      return totals.pending
    },
  }
}

/** Writes directly to the database, so that the server only has to deliver. */
export function databaseTarget(holdfast: Holdfast, url: string): ImportTarget {
  return {
    name: withoutPassword(url),
    maxInFlight: 2,
    async publish(events) {
      const stored = await holdfast.publishBatch(toBatch(events))
      return stored.reduce((sum, { deliveries }) => sum + deliveries, 0)
    },
    async pending() {
      const { totals } = await holdfast.overview.get()
      return totals.pending
    },
  }
}

function toBatch(events: readonly ImportedEvent[]) {
  return events.map(({ type, body, key }) => ({
    type,
    payload: new RawJson(body, true),
    idempotencyKey: key,
  }))
}

function withoutPassword(url: string): string {
  return url.replace(/\/\/[^@/]*@/, '//').replace(/\?.*$/, '')
}
