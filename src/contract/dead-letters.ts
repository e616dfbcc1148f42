import { z } from 'zod'
import { field } from '../core/field.ts'
import { discardInput, resolveInput } from '../core/operations/letter-inputs.ts'
import { type DeadLetterFilter, deadLetterFilter } from '../core/operations/list-filter.ts'
import { attemptShape, criticality, outcomes } from './attempts.ts'
import { defineOperation } from './define-operation.ts'
import { failureFilter, messageFilter, timeFilter, tracePage } from './filters.ts'
import { typedAs } from './read-as.ts'
import { because, jsonObject, listOf, pageQuery, queryNumber, timestamp, wholeListQuery } from './shapes.ts'
import { storedMessage } from './stored-events.ts'

const tag = 'Dead letters'

const letterParams = z.object({
  id: z
    .string()
    .max(64)
    .meta({ description: 'The dead letter.', examples: ['dlt_0jm3x1c8000'] }),
})

const filter = {
  ...messageFilter,
  ...failureFilter,
  ...timeFilter,
  job: field.text(127).optional().meta({ description: 'The job whose run failed.' }),
  messageId: field.text(64).optional(),
  state: field.oneOf('open', 'redriven', 'resolved', 'discarded', 'erased').optional(),
  reason: field.text(100).optional(),
  class: field.oneOf('retryable', 'permanent', 'gone', 'throttled').optional(),
  fingerprint: field.text(64).optional(),
  criticality: field.oneOf('critical', 'standard', 'best_effort').optional(),
  orderingKey: field.text(255).optional(),
}

const common = {
  id: z.string(),
  deliveryId: z.string().meta({ description: '`dlv_…`, or `run_…` of a job.' }),
  messageId: z.string(),
  replayOf: z.string().nullable().meta({ description: 'The message that this one replays.' }),
  endpoint: z
    .string()
    .nullable()
    .meta({ description: "Null if the endpoint has been deleted, or if this is a job's run." }),
  job: z.string().nullable().meta({ description: 'The job whose run failed.' }),
  queue: z.string().nullable(),
  route: z.string().nullable(),
  eventType: z.string().nullable(),
  tenant: z.string().nullable(),
  correlationId: z.string().nullable(),
  state: z.enum(['open', 'redriven', 'resolved', 'discarded', 'erased']),
  reason: z.string(),
  class: z.enum(outcomes),
  statusCode: z.int().nullable(),
  errorCode: z.string().nullable(),
  error: z.string().nullable(),
  fingerprint: z
    .string()
    .meta({ description: 'Equal for errors that differ only in ids, numbers and hosts.' }),
  criticality,
  priority: z.int(),
  orderingKey: z.string().nullable(),
  blocksKey: z.boolean(),
  redrives: z.int(),
  resends: z.int(),
  redrivenDeliveryId: z.string().nullable(),
  createdAt: timestamp,
  settledAt: timestamp.nullable(),
  settledBy: z.string().nullable(),
  note: z.string().nullable(),
  action: z.string().nullable(),
}

const deadLetter = z.object({ ...common, attempts: z.int() }).meta({ id: 'DeadLetter' })

const wholeLetter = z
  .object({
    ...common,
    attempts: z.array(attemptShape),
    request: jsonObject
      .nullable()
      .meta({ description: 'The last request as rendered: truncated, secrets redacted.' }),
    response: jsonObject.nullable().meta({
      description: "The receiver's response to it, as far as it was stored: `status`, `headers`, `body`.",
    }),
    message: storedMessage.nullable(),
    brokerHistory: z.array(jsonObject).optional().meta({
      description:
        'Of a run that a broker dead-lettered: the `x-death` of its message, the newest entry first.',
    }),
  })
  .meta({ id: 'DeadLetterDetail' })

const group = z
  .object({
    fingerprint: z.string(),
    endpoint: z.string().nullable(),
    queue: z.string().nullable(),
    count: z.int(),
    firstSeenAt: timestamp,
    lastSeenAt: timestamp,
    series: z.array(z.int()).meta({
      description: 'How many came in each of the last 24 hours, the oldest first; 100 at most.',
    }),
    routes: z.array(z.string()).meta({ description: 'The routes of the newest dead letters.' }),
    precededBy: z.object({ at: timestamp, action: z.string(), subject: z.string() }).nullable().meta({
      description:
        'The last change to the endpoint or one of its routes, if it was at most 5 minutes before the first dead letter.',
    }),
    sample: z.object({
      id: z.string(),
      reason: z.string(),
      class: z.enum(outcomes),
      statusCode: z.int().nullable(),
      errorCode: z.string().nullable(),
      error: z.string().nullable(),
    }),
  })
  .meta({ id: 'DeadLetterGroup' })

const endpointSummary = z
  .object({
    endpoint: z.string().nullable(),
    queue: z.string().nullable(),
    dead: z.int(),
    redriven: z.int(),
    resolved: z.int(),
    discarded: z.int(),
    oldest: timestamp.nullable(),
    newest: timestamp.nullable(),
  })
  .meta({ id: 'DeadLetterSummary' })

const recipient = z
  .object({
    endpoint: z.string(),
    contact: z.string().nullable(),
    count: z.int(),
    deadLetters: z.int(),
    overdue: z.int(),
    since: timestamp,
    oldestMessageId: z.string(),
    lastError: z.string().nullable(),
    lastErrorAt: timestamp.nullable(),
  })
  .meta({ id: 'Recipient' })

export const deadLetterOperations = {
  list: defineOperation({
    id: 'listDeadLetters',
    method: 'GET',
    path: '/v1/dead-letters',
    tag,
    summary: 'List dead letters, newest first',
    permission: 'read',
    query: z.strictObject({ ...tracePage, ...filter }),
    result: listOf(deadLetter),
    errors: ['invalid_filter'],
  }),
  groups: defineOperation({
    id: 'groupDeadLetters',
    method: 'GET',
    path: '/v1/dead-letters/groups',
    tag,
    summary: 'Group dead letters by error and endpoint, largest group first',
    description: 'Returns the 500 largest groups.',
    permission: 'read',
    query: z.strictObject({
      limit: queryNumber(1, 200).default(50).meta({ description: 'Maximum number of results.' }),
      cursor: pageQuery.cursor,
      ...filter,
    }),
    result: listOf(group).extend({
      isComplete: z.boolean().meta({
        description:
          'False if the filter was applied only to the newest 10,000 dead letters and there are more.',
      }),
    }),
    errors: ['invalid_filter'],
  }),
  trial: defineOperation({
    id: 'tryDeadLetters',
    method: 'POST',
    path: '/v1/dead-letters/trial',
    tag,
    summary: 'Preview a redrive: render open dead letters with the current routes, without sending',
    description:
      'Renders the newest dead letters that match the filter, and reports whether a redrive would produce a request to the receiver.',
    permission: 'read',
    body: z
      .strictObject({
        filter: typedAs<DeadLetterFilter>(deadLetterFilter),
        sample: field.wholeNumber(1, 50).default(20).meta({ description: 'Maximum number of dead letters.' }),
      })
      .meta({ examples: [{ filter: { endpoint: 'crm' }, sample: 20 }] }),
    result: z
      .object({
        tried: z.int(),
        rendered: z.int(),
        failures: z.array(
          z.object({ id: z.string(), messageId: z.string(), code: z.string(), message: z.string() }),
        ),
      })
      .meta({ id: 'DeadLetterTrial' }),
    errors: ['invalid_filter', 'endpoint_not_found', 'route_not_found', 'previews_busy'],
    keepsResult: false,
    isRepeatable: true,
  }),
  summary: defineOperation({
    id: 'summariseDeadLetters',
    method: 'GET',
    path: '/v1/dead-letters/summary',
    tag,
    summary: 'Count dead letters by endpoint',
    permission: 'read',
    query: z.strictObject(wholeListQuery),
    result: listOf(endpointSummary),
  }),
  recipients: defineOperation({
    id: 'listPersistingRecipients',
    method: 'GET',
    path: '/v1/dead-letters/recipients',
    tag,
    summary: 'List critical events that are waiting, longest waiting first',
    description: 'Critical dead letters, and critical deliveries that are overdue by an hour or more.',
    permission: 'read',
    query: z.strictObject(wholeListQuery),
    result: listOf(recipient),
  }),
  get: defineOperation({
    id: 'getDeadLetter',
    method: 'GET',
    path: '/v1/dead-letters/{id}',
    tag,
    summary: 'Get a dead letter with its message and all attempts',
    permission: 'read',
    params: letterParams,
    result: wholeLetter,
    errors: ['dead_letter_not_found'],
  }),
  redrive: defineOperation({
    id: 'redriveDeadLetter',
    method: 'POST',
    path: '/v1/dead-letters/{id}/redrive',
    tag,
    summary: 'Redeliver a dead letter, applying the current transform',
    description: 'Repeated or concurrent calls deliver once. Receivers see the same `webhook-id`.',
    permission: 'operate',
    params: letterParams,
    body: z.strictObject(because).meta({ examples: [{ reason: 'The template is fixed.' }] }),
    isBodyOptional: true,
    status: 202,
    result: z.object({
      deliveryId: z
        .string()
        .meta({ description: 'The new delivery `dlv_…`; for a job, the same as `runId`.' }),
      runId: z.string().nullable().meta({ description: '`run_…` for a job; null for an endpoint.' }),
    }),
    errors: ['dead_letter_not_found', 'dead_letter_settled'],
  }),
  resolve: defineOperation({
    id: 'resolveDeadLetter',
    method: 'POST',
    path: '/v1/dead-letters/{id}/resolve',
    tag,
    summary: 'Mark a dead letter as resolved: it needs no delivery any more',
    permission: 'operate',
    params: letterParams,
    body: resolveInput.meta({
      id: 'ResolveInput',
      examples: [{ note: 'Refunded manually.', action: 'refunded' }],
    }),
    isBodyOptional: true,
    result: wholeLetter,
    errors: ['dead_letter_not_found', 'dead_letter_settled'],
  }),
  discard: defineOperation({
    id: 'discardDeadLetter',
    method: 'DELETE',
    path: '/v1/dead-letters/{id}',
    tag,
    summary: 'Discard a dead letter',
    description: 'It stays visible until retention removes it.',
    permission: 'operate',
    params: letterParams,
    query: z.strictObject({ reason: discardInput.shape.reason.default('Discarded through the API.') }),
    result: wholeLetter,
    errors: ['dead_letter_not_found', 'dead_letter_settled'],
  }),
}
