import { z } from 'zod'
import { sendOptions } from '../delivery/send-options.ts'
import { field } from '../field.ts'
import { type Parsed, parseBySchema } from '../problem.ts'

const maxMs = 3_155_760_000_000
const shared = sendOptions.shape
const tags = z
  .array(field.text(63), { error: 'must be a list of texts' })
  .min(1, { error: 'must not be empty' })
  .max(20, { error: 'must have at most 20 entries' })

/** A tag that a worker must have. It has no comma, because commas separate tags in storage. */
const requiredTag = z
  .string()
  .regex(/^[A-Za-z0-9._:-]{1,63}$/, { error: 'must be letters, digits, ".", "_", ":" and "-"' })

/** The options of one run, as the SDK, the API and SQL take them. Unknown ones are refused. */
export const runOptions = z
  .strictObject({
    tenant: shared.tenant,
    idempotencyKey: shared.idempotencyKey,
    /** While a run with this key has not ended (or for `uniqueForMs`), enqueuing again returns that run. */
    uniqueKey: field.text(255).optional(),
    uniqueForMs: field.wholeNumber(1, maxMs).optional(),
    /**
     * What happens to a waiting run with the same `uniqueKey`: it is kept (default), gets the new input but keeps its time (`replace`), or gets the
     * new input and the new time (`debounce`).
     */
    onConflict: field.oneOf('keep', 'replace', 'debounce').optional(),
    orderingKey: shared.orderingKey,
    concurrencyKey: field.text(255).optional(),
    /** Runs with different keys (of tenants, of customers) take turns. */
    fairKey: field.text(255).optional(),
    priority: shared.priority,
    runAt: shared.deliverAt,
    delayMs: field.wholeNumber(0, maxMs).optional(),
    expiresAt: shared.expiresAt,
    criticality: shared.criticality,
    correlationId: shared.correlationId,
    headers: shared.headers,
    metadata: shared.metadata,
    tags: tags.optional(),
    /** Only the worker of this name may run it. */
    worker: field.text(127).optional(),
    /** Only workers that have all of these tags may run it. */
    requireTags: z.array(requiredTag).min(1).max(20).optional(),
    ttlMs: field.wholeNumber(0, maxMs).optional(),
    /** Why a person started the run. */
    reason: field.text(1000).optional(),
  })
  .refine(
    ({ fairKey, orderingKey, concurrencyKey }) =>
      fairKey === undefined || (orderingKey === undefined && concurrencyKey === undefined),
    {
      path: ['fairKey'],
      error: 'cannot be combined with orderingKey or concurrencyKey',
    },
  )
  .refine((options) => options.orderingKey === undefined || options.concurrencyKey === undefined, {
    path: ['concurrencyKey'],
    error: 'cannot be combined with orderingKey, which already limits it to one run at a time',
  })
  .refine(({ onConflict, uniqueKey }) => onConflict === undefined || uniqueKey !== undefined, {
    path: ['onConflict'],
    error: 'requires uniqueKey',
  })
  .refine(({ uniqueForMs, uniqueKey }) => uniqueForMs === undefined || uniqueKey !== undefined, {
    path: ['uniqueForMs'],
    error: 'requires uniqueKey',
  })
  .refine(
    ({ onConflict = 'keep', orderingKey, concurrencyKey }) =>
      onConflict === 'keep' || (orderingKey === undefined && concurrencyKey === undefined),
    {
      path: ['onConflict'],
      error: 'cannot be combined with orderingKey or concurrencyKey, unless it is "keep"',
    },
  )
  .refine((options) => options.worker === undefined || options.requireTags === undefined, {
    path: ['requireTags'],
    error: 'cannot be combined with worker',
  })
  .refine((options) => options.runAt === undefined || options.delayMs === undefined, {
    path: ['delayMs'],
    error: 'cannot be combined with runAt',
  })

export type RunOptionsInput = z.input<typeof runOptions>

/** @example parseRunOptions({ delayMs: 60_000, uniqueKey: 'report-7' }) */
export function parseRunOptions(input: unknown): Parsed<Readonly<z.output<typeof runOptions>>> {
  return parseBySchema(runOptions, input)
}
