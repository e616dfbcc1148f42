import { z } from 'zod'
import { type IdPrefix, parseId } from '../delivery/ids.ts'
import { field, isStorableTime } from '../field.ts'
import { parsePayloadPath } from './payload-path.ts'

/** Maximum of ids in the filter of a bulk action on selected rows. */
export const maxIdsPerFilter = 1000
export const maxPageRows = 500
export const defaultPageRows = 50

const timeAdvice =
  'must be a Date or an ISO 8601 time with a zone, like "2030-01-31T09:00:00Z", in the years 1 to 9999'
const time = z
  .union([z.date(), z.iso.datetime({ offset: true }).transform((text) => new Date(text))], {
    error: timeAdvice,
  })
  .refine(isStorableTime, { error: timeAdvice })

const pathAdvice = 'must be a path into the payload, like customer.vatId or items[0].sku'

function id(prefix: IdPrefix) {
  return z.string().refine((text) => parseId(prefix, text) !== undefined, {
    error: `must be an id like ${prefix}_00000000001`,
  })
}

function ids(prefix: IdPrefix) {
  const error = `must be a list of 1 to ${maxIdsPerFilter} ids`
  return z.array(id(prefix), { error }).min(1, { error }).max(maxIdsPerFilter, { error })
}

const message = {
  tenant: field.text(255).optional(),
  /** `order.created`, or `order.*` for all types with that prefix. */
  eventType: field.text(255).optional(),
  correlationId: field.text(255).optional(),
}

const failure = {
  endpoint: field.text(63).optional(),
  route: field.text(127).optional(),
  statusCode: field.wholeNumber(100, 999).optional(),
  errorCode: field.text(100).optional(),
  /** Part of the error text, case-insensitive. */
  error: field.text(500).optional(),
  /** Inclusive. */
  from: time.optional(),
  /** Exclusive. */
  to: time.optional(),
}

const deadLetterFields = {
  ...message,
  ...failure,
  ids: ids('dlt').optional(),
  /** The job whose run failed. */
  job: field.text(127).optional(),
  messageId: id('msg').optional(),
  state: field.oneOf('open', 'redriven', 'resolved', 'discarded', 'erased').optional(),
  reason: field.text(100).optional(),
  class: field.oneOf('retryable', 'permanent', 'gone', 'throttled').optional(),
  fingerprint: field.text(64).optional(),
  criticality: field.oneOf('critical', 'standard', 'best_effort').optional(),
  orderingKey: field.text(255).optional(),
}

const deliveryFields = {
  ...message,
  ...failure,
  ids: ids('dlv').optional(),
  messageId: id('msg').optional(),
  state: field
    .oneOf('pending', 'in_flight', 'succeeded', 'dead', 'expired', 'cancelled', 'dropped', 'skipped')
    .optional(),
}

const eventFields = {
  ...message,
  orderingKey: field.text(255).optional(),
  state: field.oneOf('unrouted', 'routed').optional(),
  from: failure.from,
  to: failure.to,
}

const runFields = {
  queue: field.text(63).optional(),
  job: field.text(127).optional(),
  state: field.oneOf('scheduled', 'waiting', 'running').optional(),
  /** The worker that executes the run. */
  worker: field.text(127).optional(),
  /** One of its `tags` or `requireTags`. */
  tag: field.text(63).optional(),
  correlationId: message.correlationId,
  from: failure.from,
  to: failure.to,
}

const payloadPath = z
  .string({ error: pathAdvice })
  .max(500, { error: pathAdvice })
  .transform((text, context) => {
    const path = parsePayloadPath(text)
    if (path !== undefined) return path
    context.addIssue({ code: 'custom', message: pathAdvice })
    return z.NEVER
  })

const page = {
  limit: field.wholeNumber(1, maxPageRows).optional(),
  /** The `nextCursor` of the last page. */
  cursor: z.string({ error: 'must be the nextCursor of the previous page' }).optional(),
}

export const deadLetterFilter = z.strictObject(deadLetterFields)
export const deliveryFilter = z.strictObject(deliveryFields)
/** Runs that haven't ended. */
export const owedRunFilter = z.strictObject(runFields)
export const eventFilter = z.strictObject(eventFields)

export const deadLetterQuery = z.strictObject({ ...deadLetterFields, ...page })
export const deliveryQuery = z
  .strictObject({
    ...deliveryFields,
    ...page,
    /** `newest` by default. `next_attempt`: only pending deliveries that wait for a time, the soonest first. */
    sort: field.oneOf('newest', 'next_attempt').optional(),
  })
  .refine(({ sort, state }) => sort !== 'next_attempt' || state === undefined || state === 'pending', {
    path: ['sort'],
    error: 'next_attempt lists pending deliveries only: leave out the state, or ask for state=pending',
  })
export const eventQuery = z.strictObject({ ...eventFields, ...page })

/** A search in payloads, over a span of time. */
export const eventSearch = z
  .strictObject({
    ...eventFields,
    ...page,
    path: payloadPath.optional(),
    equals: z.string().max(1000).optional(),
    text: field.text(500).optional(),
  })
  .refine(({ path, equals }) => (path === undefined) === (equals === undefined), {
    path: ['equals'],
    error: 'path and equals must be given together: the place in the payload, and its value',
  })
  .refine(({ path, text }) => path !== undefined || text !== undefined, {
    path: ['text'],
    error: 'give a path with the value it must equal, or a text',
  })

export type EventSearch = z.input<typeof eventSearch>
export type DeadLetterFilter = z.input<typeof deadLetterFilter>
export type DeliveryFilter = z.input<typeof deliveryFilter>
export type EventFilter = z.input<typeof eventFilter>
export type DeadLetterQuery = z.input<typeof deadLetterQuery>
export type DeliveryQuery = z.input<typeof deliveryQuery>
export type EventQuery = z.input<typeof eventQuery>
