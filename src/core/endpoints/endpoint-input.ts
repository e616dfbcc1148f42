import { z } from 'zod'
import { field, isStorable } from '../field.ts'
import { presetNames } from './presets.ts'

const minuteMs = 60_000
const dayMs = 24 * 60 * minuteMs

const delayMs = field.wholeNumber(100, dayMs)
const retries = field.wholeNumber(0, 1000)

export const endpointNamePattern = /^[a-z0-9][a-z0-9._-]{0,62}$/

const nameAdvice =
  'must be 1 to 63 characters of a–z, 0–9, ".", "_" and "-", and begin with a letter or a digit'

export const endpointName = z.string({ error: nameAdvice }).regex(endpointNamePattern, { error: nameAdvice })

const retry = z
  .strictObject({
    strategy: field.oneOf('exponential', 'linear', 'fixed', 'schedule').optional(),
    baseDelayMs: delayMs.optional(),
    maxDelayMs: delayMs.optional(),
    incrementMs: delayMs.optional(),
    maxRetries: retries.optional(),
    jitter: field.oneOf('none', 'full', 'equal').optional(),
    giveUpAfterMs: field.wholeNumber(minuteMs, 30 * dayMs).optional(),
    delaysMs: z
      .array(delayMs, { error: 'must be a list of delays in milliseconds' })
      .max(1000, { error: 'must have at most 1000 delays' })
      .optional(),
  })
  .meta({ id: 'RetryInput' })

const request = z
  .strictObject({
    maxRetries: retries.optional(),
    baseDelayMs: delayMs.optional(),
    maxDelayMs: delayMs.optional(),
    jitter: field.oneOf('none', 'full', 'equal').optional(),
    deadlineMs: field.wholeNumber(100, 10 * minuteMs).optional(),
    retryOn: z
      .array(field.wholeNumber(300, 599), { error: 'must be a list of HTTP statuses' })
      .max(50, { error: 'must have at most 50 statuses' })
      .optional(),
  })
  .meta({ id: 'RequestPolicyInput' })

const circuit = z
  .strictObject({
    threshold: field.wholeNumber(1, 1000).optional(),
    cooldownMs: field.wholeNumber(1000, 60 * minuteMs).optional(),
  })
  .meta({ id: 'CircuitInput' })

const limits = z
  .strictObject({
    concurrency: field.wholeNumber(1, 10_000).optional(),
    ratePerSecond: field.numberBetween(0.001, 100_000).nullable().optional(),
    maxPending: field.wholeNumber(1, 10_000_000).optional(),
    onFull: field.oneOf('dead_letter', 'reject').optional(),
  })
  .meta({ id: 'LimitsInput' })

const autoDisable = z
  .strictObject({
    onGone: field.flag().optional(),
    threshold: field.wholeNumber(1, 1000).nullable().optional(),
    windowMs: field.wholeNumber(1000, 30 * dayMs).optional(),
    reenableAfterMs: field
      .wholeNumber(1000, 30 * dayMs)
      .nullable()
      .optional(),
  })
  .meta({ id: 'AutoDisableInput' })

/** What a site says for all its new endpoints; the setting `defaults`. */
export const endpointDefaults = z.strictObject({
  retry: retry.optional(),
  circuit: circuit.optional(),
  limits: limits.optional(),
  autoDisable: autoDisable.optional(),
})

export type EndpointDefaults = z.output<typeof endpointDefaults>

const statusAdvice = 'must have statuses like "409" or "4xx" as its keys'

/** The transport parses the rest of it: what every transport has in common is checked here. */
const config = z.looseObject({
  timeoutMs: field.wholeNumber(100, 300_000).optional(),
  classify: z
    .record(
      z.string({ error: statusAdvice }).regex(/^[1-5](?:\d\d|xx)$/, { error: statusAdvice }),
      field.oneOf('success', 'retryable', 'permanent', 'gone', 'throttled'),
      {
        error: (issue) =>
          issue.code === 'invalid_key' ? statusAdvice : 'must be an object of statuses to classes',
      },
    )
    .optional(),
})

const batch = z
  .strictObject({
    maxMessages: field.wholeNumber(1, 1000),
    maxBytes: field
      .wholeNumber(1024, 64 * 1024 * 1024)
      .nullable()
      .optional(),
    maxWaitMs: field.wholeNumber(0, 60_000).optional(),
  })
  .meta({ id: 'BatchInput' })

const eventTypeAdvice = 'must be an event type of 1 to 255 characters without spaces, like "order.*"'

/** An endpoint as a person writes it: everything but the name has a default, and unknown fields are refused. */
export const endpointInput = z.strictObject({
  name: endpointName,
  transport: z
    .string({ error: 'must be the name of a transport, like "http"' })
    .regex(/^[a-z][a-z0-9-]{0,31}$/, { error: 'must be the name of a transport, like "http"' })
    .optional(),
  tenant: field.text(255).nullable().optional(),
  tags: z
    .array(field.text(64), { error: 'must be a list of tags' })
    .max(20, { error: 'must have at most 20 tags' })
    .optional(),
  contact: field.text(320).nullable().optional(),
  preset: z.enum(presetNames, { error: `must be one of ${presetNames.join(', ')}` }).optional(),
  eventTypes: z
    .array(
      z
        .string({ error: eventTypeAdvice })
        .regex(/^[^\s]{1,255}$/, { error: eventTypeAdvice })
        .refine(isStorable, { error: eventTypeAdvice }),
      {
        error: 'must be a list of event types, like ["order.*"]',
      },
    )
    .max(100, { error: 'must have at most 100 event types: use a pattern like "order.*"' })
    .optional(),
  config: config.optional(),
  retry: retry.optional(),
  request: request.optional(),
  circuit: circuit.optional(),
  limits: limits.optional(),
  autoDisable: autoDisable.optional(),
  onDead: field.oneOf('continue', 'block').optional(),
  batch: batch.nullable().optional(),
  holdOn: z
    .array(field.wholeNumber(400, 499), {
      error: 'must be a list of HTTP statuses from 400 to 499, like [401, 403]',
    })
    .max(20, { error: 'must have at most 20 statuses' })
    .optional(),
})
