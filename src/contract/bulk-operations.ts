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
        'What its filter met at `asOfAt`: it touches nothing else. About that many, or more, while `isTotalExact` is false.',
    }),
    isTotalExact: z.boolean().meta({
      description: 'False while more than 10,000 may be met: they are counted as they are touched.',
    }),
    asOfAt: timestamp,
    done: z.int(),
    skipped: z.int().meta({
      description:
        'What had changed before its turn came, and was left alone. Not known, and 0, where `total` was not exact at first.',
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

const preview = z
  .object({
    count: z.int().meta({ description: 'How many it would touch.' }),
    isExact: z.boolean().meta({
      description:
        'False where it would touch more than 10,000, or looking through everything would take long: then `count` is what is known, and there may be more.',
    }),
    asOf: z.string().meta({ description: 'Give it with the operation: then nothing unseen is touched.' }),
    breakdown: z
      .object({
        critical: z.int(),
        orderingKeys: z.int().meta({ description: 'How many different ones.' }),
        oldestAt: timestamp.nullable(),
        lookedAt: z.int(),
        isComplete: z.boolean().meta({ description: 'False when only the first 10,000 were looked at.' }),
      })
      .nullable()
      .meta({ description: 'What the dead letters are made of; null for what touches none.' }),
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
    summary: 'List bulk actions, the newest first',
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
    summary: 'Count what a bulk action would touch, and touch nothing',
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
    summary: 'Start a bulk action in the background',
    description: 'An empty filter is refused, unless `all: true` says that it is meant.',
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
    summary: 'Progress of a bulk action',
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
    summary: 'What became of what a redrive or a replay sent again',
    description: 'Of the first 10,000. Other operations send nothing, and have zeros.',
    permission: 'read',
    params: operationParams,
    result: z
      .object({
        delivered: z.int(),
        waiting: z.int().meta({ description: 'Still owed.' }),
        failed: z.int().meta({ description: 'Dead letters again, and open.' }),
        gone: z.int().meta({ description: 'Settled by somebody since.' }),
        isComplete: z.boolean().meta({ description: 'False when only the first 10,000 were looked at.' }),
      })
      .meta({ id: 'OperationOutcome' }),
    errors: ['operation_not_found'],
  }),
  pause: steering('pause', 'Stop before the next step'),
  resume: steering('resume', 'Go on; also takes up one that has failed'),
  cancel: steering('cancel', 'End it; what is done stays done'),
  redriveLetters: bulk(
    'redriveDeadLetters',
    '/v1/dead-letters/redrive',
    'Redrive dead letters by a filter',
    redrive,
    { filter: { endpoint: 'crm' }, ratePerSecond: 50 },
  ),
  resolveLetters: bulk(
    'resolveDeadLetters',
    '/v1/dead-letters/resolve',
    'Resolve dead letters by a filter',
    resolve,
    { filter: { endpoint: 'crm' }, note: 'Refunded by hand.' },
  ),
  discardLetters: bulk(
    'discardDeadLetters',
    '/v1/dead-letters/discard',
    'Discard dead letters by a filter',
    discard,
    { filter: { endpoint: 'crm' }, reason: 'The customer is gone.' },
  ),
  retryDeliveries: bulk(
    'retryDeliveries',
    '/v1/deliveries/retry',
    'Make deliveries due now by a filter',
    retry,
    { filter: { endpoint: 'crm' } },
  ),
  cancelDeliveries: bulk(
    'cancelDeliveries',
    '/v1/deliveries/cancel',
    'Cancel deliveries by a filter',
    cancel,
    { filter: { endpoint: 'crm' }, reason: 'Sent by mistake.' },
  ),
  cancelRuns: bulk('cancelRuns', '/v1/runs/cancel', 'Cancel runs by a filter', cancelRuns, {
    filter: { job: 'nightly-report', state: 'waiting' },
    reason: 'The report was withdrawn.',
  }),
  replay: defineOperation({
    id: 'createReplay',
    method: 'POST',
    path: '/v1/replays',
    tag: 'Replays',
    summary: 'Send a range of the archive once more',
    description:
      'In its order, to the same or another endpoint. Each replay has a `webhook-id` of its own. `dryRun` counts and sends nothing.',
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
    summary: 'Send one event once more: every way that it went, to another endpoint, or along a route',
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
    description: 'An empty filter is refused, unless `all: true` says that it is meant.',
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
