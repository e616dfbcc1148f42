import { z } from 'zod'
import { field } from '../core/field.ts'
import { type DeadLetterFilter, deadLetterFilter } from '../core/operations/list-filter.ts'
import { discardInput, resolveInput } from '../core/operations/settlement-input.ts'
import { attemptShape, criticality, outcomes } from './attempts.ts'
import { defineOperation } from './define-operation.ts'
import { failureFilter, messageFilter, timeFilter, tracePage } from './filters.ts'
import { typedAs } from './read-as.ts'
import { because, jsonObject, listOf, pageQuery, queryNumber, timestamp } from './shapes.ts'
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
  job: field.text(127).optional().meta({ description: 'The job whose runs failed.' }),
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
  replayOf: z.string().nullable().meta({ description: 'The message that this is a replay of.' }),
  endpoint: z
    .string()
    .nullable()
    .meta({ description: "Null when it was deleted since, or when this is a job's run." }),
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
    .meta({ description: 'The same for errors that differ by ids, numbers and hosts only.' }),
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
      .meta({ description: 'The last request as it was rendered: bounded, secrets redacted.' }),
    response: jsonObject.nullable().meta({
      description: 'What the receiver answered to it, as far as it was kept: `status`, `headers`, `body`.',
    }),
    message: storedMessage.nullable(),
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
    routes: z.array(z.string()).meta({ description: 'Along which routes the newest came.' }),
    precededBy: z.object({ at: timestamp, action: z.string(), subject: z.string() }).nullable().meta({
      description:
        'The last change of its endpoint or one of its routes, where that was at most 5 minutes before the first letter.',
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
    summary: 'Look up dead letters, the newest first',
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
    summary: 'What is wrong where: letters by error and endpoint, the largest group first',
    description: 'The 500 largest groups.',
    permission: 'read',
    query: z.strictObject({
      limit: queryNumber(1, 200).default(50).meta({ description: 'How many to return at most.' }),
      cursor: pageQuery.cursor,
      ...filter,
    }),
    result: listOf(group).extend({
      isComplete: z.boolean().meta({
        description: 'False when the filter was asked of the newest 10,000 letters only, and there are more.',
      }),
    }),
    errors: ['invalid_filter'],
  }),
  trial: defineOperation({
    id: 'tryDeadLetters',
    method: 'POST',
    path: '/v1/dead-letters/trial',
    tag,
    summary: 'Render some open letters with the current routes, and send nothing',
    description: 'The newest that the filter meets. Says whether a redrive would get as far as the receiver.',
    permission: 'read',
    body: z
      .strictObject({
        filter: typedAs<DeadLetterFilter>(deadLetterFilter),
        sample: field.wholeNumber(1, 50).default(20).meta({ description: 'How many letters at most.' }),
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
    summary: 'How many letters each endpoint has',
    permission: 'read',
    result: z.object({ data: z.array(endpointSummary) }),
  }),
  recipients: defineOperation({
    id: 'listPersistingRecipients',
    method: 'GET',
    path: '/v1/dead-letters/recipients',
    tag,
    summary: 'Who waits for critical events, the longest waiting first',
    description: 'Critical dead letters, and critical deliveries overdue by an hour.',
    permission: 'read',
    result: z.object({ data: z.array(recipient) }),
  }),
  get: defineOperation({
    id: 'getDeadLetter',
    method: 'GET',
    path: '/v1/dead-letters/{id}',
    tag,
    summary: 'A dead letter with its message and every attempt',
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
    summary: 'Owe it again, through the whole flow, transform included',
    description: 'Twice, or from two places at once, delivers once. Receivers see the same `webhook-id`.',
    permission: 'operate',
    params: letterParams,
    body: z.strictObject(because).meta({ examples: [{ reason: 'The template is fixed.' }] }),
    isBodyOptional: true,
    status: 202,
    result: z.object({
      deliveryId: z
        .string()
        .meta({ description: 'What redelivers it: `dlv_…`, or, of a job, the same as `runId`.' }),
      runId: z.string().nullable().meta({ description: '`run_…` of a job; null for an endpoint.' }),
    }),
    errors: ['dead_letter_not_found', 'dead_letter_settled'],
  }),
  resolve: defineOperation({
    id: 'resolveDeadLetter',
    method: 'POST',
    path: '/v1/dead-letters/{id}/resolve',
    tag,
    summary: 'Say that it needs no delivery any more',
    permission: 'operate',
    params: letterParams,
    body: resolveInput.meta({
      id: 'ResolveInput',
      examples: [{ note: 'Refunded by hand.', action: 'refunded' }],
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
    summary: 'Give it up',
    description: 'It stays to be looked at until retention removes it.',
    permission: 'operate',
    params: letterParams,
    query: z.strictObject({ reason: discardInput.shape.reason.default('Discarded over the API.') }),
    result: wholeLetter,
    errors: ['dead_letter_not_found', 'dead_letter_settled'],
  }),
}
