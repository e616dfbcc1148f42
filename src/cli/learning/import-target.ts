import type { HoldfastClient } from '../../client/holdfast-client.ts'
import { operations } from '../../contract/operations.ts'
import type { Holdfast } from '../../sdk/holdfast.ts'
import { RawJson } from '../../sdk/raw-json.ts'

export interface ImportedEvent {
  readonly type: string
  /** JSON text, which was parsed when it was read. */
  readonly body: string
  readonly key: string
}

/** Where imported events go. */
export interface ImportTarget {
  /** Tells marks of imports into different places apart; has no password. */
  readonly name: string
  /** How many batches may be on their way at once: as many as keep the other side busy. */
  readonly maxInFlight: number
  /** Stores them all or none; returns how many deliveries they led to. */
  publish(events: readonly ImportedEvent[]): Promise<number>
  /** Deliveries that are owed, over all endpoints. */
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

/** Straight into the database: what the server would do with a call is done here, and the server has its hands free to deliver. */
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
