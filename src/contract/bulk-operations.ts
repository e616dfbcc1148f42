import { z } from 'zod'
import { field } from '../core/field.ts'
import { operationInput, operationKinds, replayInput } from '../core/operations/operation-input.ts'
import { defineOperation } from './define-operation.ts'
import { tracePage } from './filters.ts'
import { jsonObject, listOf, timestamp } from './shapes.ts'

const tag = 'Operations'

const operationParams = z.object({
  id: z
    .string()
    .max(64)
    .meta({ description: 'The operation.', examples: ['op_0jm3x1c8000'] }),
})

const operationShape = z
  .object({
    id: z.string(),
    kind: z.enum(operationKinds),
    filter: jsonObject,
    options: jsonObject,
    state: z.enum(['running', 'paused', 'succeeded', 'failed', 'cancelled']),
    total: z.int().meta({
      description:
        'Number of items that matched the filter at `asOfAt`; later items are not affected. A lower estimate while `isTotalExact` is false.',
    }),
    isTotalExact: z.boolean().meta({
      description: 'False while more than 10,000 items may match: they are counted as they are processed.',
    }),
    asOfAt: timestamp,
    done: z.int(),
    skipped: z.int().meta({
      description:
        'Items that had changed before they were processed, and were left unchanged. Unknown, and 0, if `total` was not exact at the start.',
    }),
    ratePerSecond: z.number().nullable(),
    waiting: z.string().nullable(),
    node: z.string().nullable(),
    error: z.string().nullable(),
    createdBy: z.string(),
    createdAt: timestamp,
    startedAt: timestamp.nullable(),
    finishedAt: timestamp.nullable(),
  })
  .meta({ id: 'Operation' })

const skippedLetter = z
  .object({
    id: z.string(),
    endpoint: z.string().nullable(),
    queue: z.string().nullable(),
    state: z.enum(['open', 'redriven', 'resolved', 'discarded', 'erased']),
    why: z.enum(['resolved', 'discarded', 'erased', 'redriven', 'failed_again', 'destination_deleted']).meta({
      description:
        'What happened to it before its turn. `failed_again`: it was redriven and is open again. `destination_deleted`: there is no endpoint, queue or job to redrive it to.',
    }),
    by: z.string().nullable().meta({ description: 'Who settled or redrove it.' }),
    at: timestamp.nullable().meta({ description: 'When it was settled.' }),
    note: z.string().nullable(),
  })
  .meta({ id: 'SkippedLetter' })

const preview = z
  .object({
    count: z.int().meta({ description: 'Number of items that would be affected.' }),
    isExact: z.boolean().meta({
      description:
        'False if more than 10,000 items would be affected, or if counting all of them would take too long: `count` is then a lower bound.',
    }),
    asOf: z
      .string()
      .meta({ description: 'Pass it to the operation to affect only the items that this preview counted.' }),
    breakdown: z
      .object({
        critical: z.int(),
        orderingKeys: z.int().meta({ description: 'Number of distinct ordering keys.' }),
        oldestAt: timestamp.nullable(),
        lookedAt: z.int(),
        isComplete: z.boolean().meta({ description: 'False if only the first 10,000 were examined.' }),
      })
      .nullable()
      .meta({
        description: 'Breakdown of the dead letters; null for operations that do not affect dead letters.',
      }),
  })
  .meta({ id: 'OperationPreview' })

const [redrive, resolve, discard, retry, cancel, cancelRuns] = operationInput.options

const operationBody = operationInput.meta({
  id: 'OperationInput',
  examples: [{ kind: 'redrive', filter: { endpoint: 'crm' } }],
})

const bulkErrors = ['invalid_filter', 'endpoint_not_found', 'route_not_found'] as const

export const bulkOperations = {
  list: defineOperation({
    id: 'listOperations',
    method: 'GET',
    path: '/v1/operations',
    tag,
    summary: 'List bulk operations, newest first',
    permission: 'read',
    query: z.strictObject({
      ...tracePage,
      state: field.oneOf('running', 'paused', 'succeeded', 'failed', 'cancelled').optional(),
      kind: field.oneOf(...operationKinds).optional(),
    }),
    result: listOf(operationShape),
    errors: ['invalid_filter'],
  }),
  preview: defineOperation({
    id: 'previewOperation',
    method: 'POST',
    path: '/v1/operations/preview',
    tag,
    summary: 'Count what a bulk operation would affect, without running it',
    permission: 'read',
    body: operationBody,
    result: preview,
    errors: bulkErrors,
    keepsResult: false,
  }),
  create: defineOperation({
    id: 'createOperation',
    method: 'POST',
    path: '/v1/operations',
    tag,
    summary: 'Start a bulk operation in the background',
    description: 'An empty filter is rejected unless `all: true` confirms it.',
    permission: 'operate',
    body: operationBody,
    status: 202,
    result: operationShape,
    errors: bulkErrors,
  }),
  get: defineOperation({
    id: 'getOperation',
    method: 'GET',
    path: '/v1/operations/{id}',
    tag,
    summary: 'Get the progress of a bulk operation',
    permission: 'read',
    params: operationParams,
    result: operationShape,
    errors: ['operation_not_found'],
  }),
  outcome: defineOperation({
    id: 'getOperationOutcome',
    method: 'GET',
    path: '/v1/operations/{id}/outcome',
    tag,
    summary: 'Get the outcome of the deliveries that a redrive or a replay created',
    description: 'Covers the first 10,000. Other operations send nothing and return zeros.',
    permission: 'read',
    params: operationParams,
    result: z
      .object({
        delivered: z.int(),
        waiting: z.int().meta({ description: 'Not delivered yet.' }),
        failed: z.int().meta({ description: 'Open dead letters again.' }),
        gone: z
          .int()
          .meta({ description: 'Settled in another way since, for example resolved or discarded.' }),
        isComplete: z.boolean().meta({ description: 'False if only the first 10,000 were examined.' }),
      })
      .meta({ id: 'OperationOutcome' }),
    errors: ['operation_not_found'],
  }),
  skipped: defineOperation({
    id: 'listSkippedLetters',
    method: 'GET',
    path: '/v1/operations/{id}/skipped',
    tag,
    summary: 'List the dead letters that a bulk operation left as they were, newest first',
    description:
      'Of a redrive, resolve or discard: dead letters that matched its filter at `asOfAt`, and had changed before their turn. Other operations have none. A dead letter that has failed again with another error may no longer match the filter; it is then not listed.',
    permission: 'read',
    params: operationParams,
    query: z.strictObject(tracePage),
    result: listOf(skippedLetter),
    errors: ['operation_not_found', 'invalid_filter'],
  }),
  pause: steering('pause', 'Pause a bulk operation before its next step'),
  resume: steering('resume', 'Resume a paused or failed bulk operation'),
  cancel: steering('cancel', 'Cancel a bulk operation; completed steps are not undone'),
  redriveLetters: bulk(
    'redriveDeadLetters',
    '/v1/dead-letters/redrive',
    'Redrive the dead letters that match a filter',
    redrive,
    { filter: { endpoint: 'crm' }, ratePerSecond: 50 },
  ),
  resolveLetters: bulk(
    'resolveDeadLetters',
    '/v1/dead-letters/resolve',
    'Resolve the dead letters that match a filter',
    resolve,
    { filter: { endpoint: 'crm' }, note: 'Refunded manually.' },
  ),
  discardLetters: bulk(
    'discardDeadLetters',
    '/v1/dead-letters/discard',
    'Discard the dead letters that match a filter',
    discard,
    { filter: { endpoint: 'crm' }, reason: 'The customer is gone.' },
  ),
  retryDeliveries: bulk(
    'retryDeliveries',
    '/v1/deliveries/retry',
    'Make the deliveries that match a filter due now',
    retry,
    { filter: { endpoint: 'crm' } },
  ),
  cancelDeliveries: bulk(
    'cancelDeliveries',
    '/v1/deliveries/cancel',
    'Cancel the deliveries that match a filter',
    cancel,
    { filter: { endpoint: 'crm' }, reason: 'Sent by mistake.' },
  ),
  cancelRuns: bulk('cancelRuns', '/v1/runs/cancel', 'Cancel the runs that match a filter', cancelRuns, {
    filter: { job: 'nightly-report', state: 'waiting' },
    reason: 'The report was withdrawn.',
  }),
  replay: defineOperation({
    id: 'createReplay',
    method: 'POST',
    path: '/v1/replays',
    tag: 'Replays',
    summary: 'Replay a range of archived events',
    description:
      'In their original order, to the same or another endpoint. Each replay has its own `webhook-id`. With `dryRun`, events are counted and nothing is sent.',
    permission: 'operate',
    body: replayInput.extend({ dryRun: field.flag().optional() }).meta({
      id: 'ReplayInput',
      examples: [
        { endpoint: 'crm', from: '2030-01-01T00:00:00Z', to: '2030-01-02T00:00:00Z', ratePerSecond: 100 },
      ],
    }),
    status: 202,
    result: z.union([operationShape, preview]),
    errors: bulkErrors,
  }),
  replayOne: defineOperation({
    id: 'replayEvent',
    method: 'POST',
    path: '/v1/events/{id}/replay',
    tag: 'Replays',
    summary: 'Replay one event to all its original destinations, to another endpoint, or along a route',
    permission: 'operate',
    params: z.object({
      id: z
        .string()
        .max(64)
        .meta({ examples: ['msg_0jm3x1c8000'] }),
    }),
    body: z
      .strictObject({ targetEndpoint: field.text(63).optional(), targetRoute: field.text(127).optional() })
      .meta({ examples: [{ targetEndpoint: 'crm' }] }),
    isBodyOptional: true,
    status: 202,
    result: z.object({ deliveryIds: z.array(z.string()) }),
    errors: ['event_not_found', 'endpoint_not_found', 'route_not_found', 'invalid_filter'],
  }),
}

function steering(action: 'pause' | 'resume' | 'cancel', summary: string) {
  return defineOperation({
    id: `${action}Operation`,
    method: 'POST',
    path: `/v1/operations/{id}/${action}`,
    tag,
    summary,
    permission: 'operate',
    params: operationParams,
    result: operationShape,
    errors: ['operation_not_found', 'operation_ended'],
  })
}

function bulk<Input extends z.ZodObject>(
  id: string,
  path: `/${string}`,
  summary: string,
  input: Input,
  example: Omit<z.input<Input>, 'kind'>,
) {
  return defineOperation({
    id,
    method: 'POST',
    path,
    tag,
    summary,
    description: 'An empty filter is rejected unless `all: true` confirms it.',
    permission: 'operate',
    body: input.omit({ kind: true }).meta({ examples: [example] }) as unknown as z.ZodType<
      Omit<z.output<Input>, 'kind'>,
      Omit<z.input<Input>, 'kind'>
    >,
    status: 202,
    result: operationShape,
    errors: bulkErrors,
  })
}
