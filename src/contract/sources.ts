import { z } from 'zod'
import { field } from '../core/field.ts'
import { sourceChanges, sourceInput } from '../core/sources/source-input.ts'
import { sourceDescriptions } from '../sources/descriptions.ts'
import type { SourceChanges, SourceInput } from '../sources/source-types.ts'
import { defineOperation } from './define-operation.ts'
import { readAs, typedAs } from './read-as.ts'
import { type Because, because, jsonObject, listOf, pageQuery, queryFlag, timestamp } from './shapes.ts'

const tag = 'Sources'

type Choices = [z.ZodObject, ...z.ZodObject[]]

const { type: _, config: __, ...common } = sourceInput.shape

/** A source as the OpenAPI document describes it: its `type` determines its `config`. */
const describedSource = z
  .discriminatedUnion(
    'type',
    sourceDescriptions.map(({ name, config }) =>
      z
        .strictObject({ ...common, type: z.literal(name), config })
        .meta({ id: `${name.charAt(0).toUpperCase()}${name.slice(1)}SourceInput` }),
    ) as unknown as Choices,
  )
  .meta({ id: 'SourceInput', examples: sourceDescriptions.map(({ example }) => example) })

const describedChanges = z
  .strictObject({
    config: z.union(
      sourceDescriptions.map(({ config }) => (config as z.ZodObject).partial()) as unknown as Choices,
    ),
    ...because,
  })
  .meta({ id: 'SourceChanges', examples: [{ config: { prefetch: 200 } }] })

const nodeReport = z
  .object({
    node: z.string(),
    state: z.enum(['connecting', 'connected', 'stalled', 'disconnected']).meta({
      description: '`stalled`: connected, but the messages cannot be stored at the moment, as `error` says.',
    }),
    error: z.string().nullable(),
    since: timestamp.meta({ description: 'Since when the node is connected, or not connected.' }),
    received: z.int().meta({ description: 'Messages received since the node began to consume the source.' }),
    published: z.int(),
    rejected: z.int(),
    unacknowledged: z.int(),
    reportedAt: timestamp,
  })
  .meta({ id: 'SourceNode' })

const sourceShape = z
  .object({
    name: z.string(),
    type: z.string(),
    config: jsonObject.meta({ description: '`{"isSet": true}` stands in the place of a secret.' }),
    state: z.enum(['active', 'paused', 'rejecting']).meta({
      description: '`rejecting`: stopped by Holdfast, because a thousand messages in a row were rejected.',
    }),
    stateReason: z.string().nullable(),
    nodes: z.array(nodeReport).meta({ description: 'The live nodes that consume the source.' }),
    rejects: z.int().meta({ description: 'Number of rejected messages, counted to 10,000.' }),
    createdAt: timestamp,
    updatedAt: timestamp,
  })
  .meta({ id: 'Source' })

const params = z.object({
  name: z
    .string()
    .max(255)
    .meta({ description: 'The source.', examples: ['shop-orders'] }),
})

export const sourceOperations = {
  list: defineOperation({
    id: 'listSources',
    method: 'GET',
    path: '/v1/sources',
    tag,
    summary: 'List sources by name',
    permission: 'read',
    query: z.strictObject(pageQuery),
    result: listOf(sourceShape),
  }),
  create: defineOperation({
    id: 'createSource',
    method: 'POST',
    path: '/v1/sources',
    tag,
    summary: 'Create a source',
    description:
      'Every node consumes it at once. Each message is published as an event, and acknowledged after the commit.',
    permission: 'configure',
    body: typedAs<SourceInput>(readAs(sourceInput, describedSource)),
    status: 201,
    result: sourceShape,
    errors: ['source_exists', 'invalid_source', 'encryption_key_missing'],
  }),
  get: defineOperation({
    id: 'getSource',
    method: 'GET',
    path: '/v1/sources/{name}',
    tag,
    summary: 'Get a source',
    permission: 'read',
    params,
    result: sourceShape,
    errors: ['source_not_found'],
  }),
  update: defineOperation({
    id: 'updateSource',
    method: 'PATCH',
    path: '/v1/sources/{name}',
    tag,
    summary: 'Update a source',
    description: 'Fields of `config` that are omitted stay as they are. Nodes reconnect.',
    permission: 'configure',
    params,
    body: typedAs<SourceChanges & Because>(readAs(sourceChanges.extend(because), describedChanges)),
    result: sourceShape,
    errors: ['source_not_found', 'source_changed', 'invalid_source', 'encryption_key_missing'],
  }),
  delete: defineOperation({
    id: 'deleteSource',
    method: 'DELETE',
    path: '/v1/sources/{name}',
    tag,
    summary: 'Delete a source',
    description: 'Rejected while it has rejected messages, unless `force=true`: they are then deleted too.',
    permission: 'configure',
    params,
    query: z.strictObject({ force: queryFlag.default(false), ...because }),
    result: z.object({ rejects: z.int().meta({ description: 'Number of rejected messages deleted.' }) }),
    errors: ['source_not_found', 'still_owed'],
  }),
  ...switches(),
  retryRejects: defineOperation({
    id: 'retrySourceRejects',
    method: 'POST',
    path: '/v1/sources/{name}/retry-rejects',
    tag,
    summary: 'Publish the rejected messages of a source with its present mapping',
    description: 'Tries at most 500 messages, the oldest first. Call it again until `isComplete`.',
    permission: 'operate',
    params,
    result: z
      .object({
        published: z.int(),
        failed: z.int(),
        isComplete: z.boolean().meta({ description: 'Whether no rejected message is left.' }),
      })
      .meta({ id: 'RetriedRejects' }),
    errors: ['source_not_found', 'queue_full'],
  }),
  discardRejects: defineOperation({
    id: 'discardSourceRejects',
    method: 'POST',
    path: '/v1/sources/{name}/discard-rejects',
    tag,
    summary: 'Discard the rejected messages of a source',
    description: 'Discards at most 10,000 messages, the oldest first. They cannot be restored.',
    permission: 'operate',
    params,
    result: z.object({ discarded: z.int() }),
    errors: ['source_not_found'],
  }),
}

function switches() {
  const body = z.strictObject(because).meta({ examples: [{ reason: 'The sender is being upgraded.' }] })
  const common = { method: 'POST', tag, permission: 'operate', params, body, isBodyOptional: true } as const
  return {
    pause: defineOperation({
      ...common,
      id: 'pauseSource',
      path: '/v1/sources/{name}/pause',
      summary: 'Stop consuming a source; its messages stay in the queue',
      result: sourceShape,
      errors: ['source_not_found'],
    }),
    resume: defineOperation({
      ...common,
      id: 'resumeSource',
      path: '/v1/sources/{name}/resume',
      summary: 'Consume a source again',
      result: sourceShape,
      errors: ['source_not_found'],
    }),
  }
}

const rejectFields = {
  id: z.string(),
  source: z.string(),
  receivedAt: timestamp,
  messageId: z.string().nullable(),
  code: z.string().meta({ examples: ['payload_invalid_json', 'schema_violation'] }),
  error: z.string().meta({ description: 'Why it could not become an event, at the last attempt.' }),
  size: z.int().meta({ description: 'Size of the body in bytes.' }),
  tries: z.int().meta({ description: 'Number of failed retries.' }),
  lastTriedAt: timestamp.nullable(),
}

const rejectParams = z.object({
  id: z
    .string()
    .regex(/^[1-9]\d{0,14}$/, 'must be a number, as shown by the list')
    .meta({ examples: ['17'] }),
})

export const sourceRejectOperations = {
  list: defineOperation({
    id: 'listSourceRejects',
    method: 'GET',
    path: '/v1/source-rejects',
    tag,
    summary: 'List messages of sources that could not become events, newest first',
    permission: 'read',
    query: z.strictObject({ ...pageQuery, source: field.text(255).optional() }),
    result: listOf(z.object(rejectFields).meta({ id: 'SourceReject' })),
  }),
  get: defineOperation({
    id: 'getSourceReject',
    method: 'GET',
    path: '/v1/source-rejects/{id}',
    tag,
    summary: 'Get a rejected message as it was received',
    permission: 'read',
    params: rejectParams,
    result: z
      .object({
        ...rejectFields,
        fields: jsonObject.meta({ description: 'Routing key, headers and properties of the message.' }),
        body: z.string().meta({ description: 'The body, at most its first 256 KiB.' }),
        bodyEncoding: z.enum(['utf8', 'base64']),
        isBodyTruncated: z.boolean(),
      })
      .meta({ id: 'SourceRejectDetail' }),
    errors: ['source_reject_not_found'],
  }),
  retry: defineOperation({
    id: 'retrySourceReject',
    method: 'POST',
    path: '/v1/source-rejects/{id}/retry',
    tag,
    summary: "Publish a rejected message with its source's present mapping",
    permission: 'operate',
    params: rejectParams,
    result: z
      .object({
        published: z.boolean(),
        eventId: z.string().nullable(),
        error: z.string().nullable().meta({ description: 'Why it failed again.' }),
      })
      .meta({ id: 'RetriedReject' }),
    errors: ['source_reject_not_found', 'queue_full'],
  }),
  discard: defineOperation({
    id: 'discardSourceReject',
    method: 'DELETE',
    path: '/v1/source-rejects/{id}',
    tag,
    summary: 'Discard a rejected message',
    permission: 'operate',
    params: rejectParams,
    status: 204,
    errors: ['source_reject_not_found'],
  }),
}
