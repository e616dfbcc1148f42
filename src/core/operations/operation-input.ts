import { z } from 'zod'
import { field } from '../field.ts'
import { deadLetterFilter, deliveryFilter, maxPageRows, owedRunFilter } from './list-filter.ts'

const run = {
  /** Maximum per second; default: as fast as possible. */
  ratePerSecond: field.numberBetween(0.01, 1_000_000).optional(),
  /** The snapshot of a preview: then exactly the counted items are affected, except those that have changed since. */
  asOf: field.text(100_000).optional(),
  /** Confirms an empty filter. */
  all: z.literal(true, { error: 'must be true, or left out' }).optional(),
}
const note = field.text(2000)

const letters = { filter: deadLetterFilter, ...run }
const owed = { filter: deliveryFilter, ...run }

const { endpoint, route, eventType, tenant, correlationId, from, to } = deliveryFilter.shape

/** The range of the archive to replay. */
export const replayInput = z.strictObject({
  endpoint,
  route,
  eventType,
  tenant,
  correlationId,
  from: from.unwrap(),
  to: to.unwrap(),
  /** How the deliveries ended; default: in any way. `failed`: dead, expired or dropped. */
  state: field.oneOf('succeeded', 'dead', 'expired', 'cancelled', 'dropped', 'skipped', 'failed').optional(),
  /** Default: each message is sent to its own endpoint again. */
  targetEndpoint: field.text(63).optional(),
  /** Messages of the range that match this route are sent through it, as if it had existed when they were published. */
  targetRoute: field.text(127).optional(),
  ratePerSecond: run.ratePerSecond,
  asOf: run.asOf,
  /** Stored in the audit log. */
  reason: note.optional(),
})

export const operationInput = z.discriminatedUnion('kind', [
  z.strictObject({ kind: z.literal('redrive'), ...letters, reason: note.optional() }),
  z.strictObject({
    kind: z.literal('resolve'),
    ...letters,
    note: note.optional(),
    action: field.text(100).optional(),
  }),
  z.strictObject({ kind: z.literal('discard'), ...letters, reason: note.optional() }),
  z.strictObject({ kind: z.literal('retry'), ...owed, reason: note.optional() }),
  z.strictObject({ kind: z.literal('cancel'), ...owed, reason: note.optional() }),
  z.strictObject({ kind: z.literal('cancel_runs'), filter: owedRunFilter, ...run, reason: note.optional() }),
])

export const operationKinds = [
  'redrive',
  'resolve',
  'discard',
  'replay',
  'retry',
  'cancel',
  'cancel_runs',
] as const

export const operationQuery = z.strictObject({
  kind: field.oneOf(...operationKinds).optional(),
  state: field.oneOf('running', 'paused', 'succeeded', 'failed', 'cancelled').optional(),
  limit: field.wholeNumber(1, maxPageRows).optional(),
  cursor: z.string({ error: 'must be the nextCursor of the previous page' }).optional(),
})

export type OperationInput = z.input<typeof operationInput>
export type ReplayInput = z.input<typeof replayInput>
export type OperationQuery = z.input<typeof operationQuery>
