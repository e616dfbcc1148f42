import { z } from 'zod'
import { endpointInput } from '../core/endpoints/endpoint-input.ts'
import { field } from '../core/field.ts'
import type { EndpointChanges, EndpointInput } from '../transports/endpoint-types.ts'
import { defineOperation } from './define-operation.ts'
import { describedEndpointChanges, describedEndpointInput } from './described-endpoints.ts'
import {
  createdEndpoint,
  endpointHealth,
  endpointParams,
  endpointShape,
  endpointTest,
  listedHealth,
  requestInput,
  requestResult,
} from './endpoint-shapes.ts'
import { readAs, typedAs } from './read-as.ts'
import {
  type Because,
  because,
  deletion,
  listOf,
  pageQuery,
  queryFlag,
  queryNumber,
  timestamp,
} from './shapes.ts'

const tag = 'Endpoints'
const maxCompared = 100

const reason = z.strictObject(because).meta({ examples: [{ reason: 'Planned maintenance until 9:00.' }] })

export const endpointOperations = {
  list: defineOperation({
    id: 'listEndpoints',
    method: 'GET',
    path: '/v1/endpoints',
    tag,
    summary: 'List endpoints by name',
    permission: 'read',
    query: z.strictObject({
      ...pageQuery,
      tag: field.text(64).optional().meta({ description: 'Only endpoints with this tag.' }),
      tenant: field.text(255).optional(),
      state: field.oneOf('active', 'paused', 'rejecting', 'disabled').optional(),
    }),
    result: listOf(endpointShape),
  }),
  create: defineOperation({
    id: 'createEndpoint',
    method: 'POST',
    path: '/v1/endpoints',
    tag,
    summary: 'Create an endpoint',
    permission: 'configure',
    body: readAs(typedAs<EndpointInput>(endpointInput), describedEndpointInput),
    status: 201,
    result: createdEndpoint,
    errors: ['endpoint_exists', 'invalid_endpoint', 'invalid_name', 'route_exists', 'encryption_key_missing'],
    shownOnce: ['signingSecret'],
  }),
  get: defineOperation({
    id: 'getEndpoint',
    method: 'GET',
    path: '/v1/endpoints/{name}',
    tag,
    summary: 'Get an endpoint',
    permission: 'read',
    params: endpointParams,
    result: endpointShape,
    errors: ['endpoint_not_found'],
  }),
  update: defineOperation({
    id: 'updateEndpoint',
    method: 'PATCH',
    path: '/v1/endpoints/{name}',
    tag,
    summary: 'Update an endpoint',
    description: 'Only the given fields change. Objects such as `retry` are merged field by field.',
    permission: 'configure',
    params: endpointParams,
    body: readAs(
      typedAs<EndpointChanges & Because>(endpointInput.omit({ name: true }).extend(because)),
      describedEndpointChanges,
    ),
    result: createdEndpoint,
    errors: ['endpoint_not_found', 'invalid_endpoint', 'route_exists', 'encryption_key_missing'],
    shownOnce: ['signingSecret'],
  }),
  delete: defineOperation({
    id: 'deleteEndpoint',
    method: 'DELETE',
    path: '/v1/endpoints/{name}',
    tag,
    summary: 'Delete an endpoint',
    description:
      'Rejected while it has pending deliveries or routes, unless `force=true`: the deliveries are then cancelled.',
    permission: 'configure',
    params: endpointParams,
    query: z.strictObject({ force: queryFlag.default(false), ...because }),
    result: deletion,
    errors: ['endpoint_not_found', 'still_owed'],
  }),
  health: defineOperation({
    id: 'getEndpointHealth',
    method: 'GET',
    path: '/v1/endpoints/{name}/health',
    tag,
    summary: 'Get the circuit, backlog and dead letters of an endpoint',
    permission: 'read',
    params: endpointParams,
    result: endpointHealth,
    errors: ['endpoint_not_found'],
  }),
  listHealth: defineOperation({
    id: 'listEndpointHealth',
    method: 'GET',
    path: '/v1/endpoint-health',
    tag,
    summary: 'List circuit, backlog and the last 24 hours of endpoints, by name',
    permission: 'read',
    query: z.strictObject({
      limit: queryNumber(1, 200).default(50).meta({ description: 'Maximum number of results.' }),
      cursor: pageQuery.cursor,
      q: field.text(63).optional().meta({ description: 'Part of the name.' }),
      tag: field.text(64).optional(),
      state: field.oneOf('active', 'paused', 'rejecting', 'disabled').optional(),
      troubled: queryFlag.default(false).meta({
        description:
          'Only endpoints that are paused, disabled, rejecting or held, or whose circuit is not closed.',
      }),
    }),
    result: listOf(listedHealth),
  }),
  pause: endpointSwitch(
    'pause',
    'Pause an endpoint: its deliveries wait',
    'The give-up timer is paused too.',
  ),
  resume: endpointSwitch('resume', 'Resume a paused, rejecting or disabled endpoint'),
  enable: endpointSwitch('enable', 'Enable a disabled endpoint'),
  disable: endpointSwitch('disable', 'Disable an endpoint: its deliveries wait'),
  resetCircuit: endpointSwitch('reset-circuit', 'Close the circuit of an endpoint and clear its hold'),
  resetAllCircuits: defineOperation({
    id: 'resetAllCircuits',
    method: 'POST',
    path: '/v1/endpoints/reset-circuit',
    tag,
    summary: 'Close all circuits and clear all holds',
    permission: 'operate',
    body: z.strictObject({ tag: field.text(64).optional() }).meta({ examples: [{ tag: 'partners' }] }),
    isBodyOptional: true,
    result: z.object({ endpoints: z.array(z.string()) }),
  }),
  listSecrets: defineOperation({
    id: 'listEndpointSecrets',
    method: 'GET',
    path: '/v1/endpoints/{name}/secrets',
    tag,
    summary: 'List which secrets are set, each with a digest that changes with its value',
    description:
      'A digest is keyed with the encryption key: it can only be compared with an earlier digest of the same field.',
    permission: 'configure',
    params: endpointParams,
    result: z
      .object({
        data: z.array(
          z.object({
            field: z.string().meta({ description: 'Its path in `config`.', examples: ['headers.x-team'] }),
            keyId: z.string().nullable().meta({
              description:
                'Null if stored before such values were encrypted; see `holdfast secrets reencrypt`.',
            }),
            setAt: timestamp.nullable(),
            digest: z.string().nullable().meta({ description: 'Null when this node lacks the key.' }),
          }),
        ),
      })
      .meta({ id: 'EndpointSecrets' }),
    errors: ['endpoint_not_found'],
  }),
  compareSecrets: defineOperation({
    id: 'compareEndpointSecrets',
    method: 'POST',
    path: '/v1/endpoints/{name}/secrets/compare',
    tag,
    summary: 'Compare values with the stored secrets, without reading them',
    permission: 'configure',
    params: endpointParams,
    body: z
      .strictObject({
        values: z
          .record(z.string().max(255), z.string().max(65_536))
          .refine(
            (values) => Object.keys(values).length <= maxCompared,
            `accepts at most ${maxCompared} fields`,
          )
          .meta({ description: 'By path in `config`: the value, or `digest:` and a digest.' }),
      })
      .meta({ examples: [{ values: { 'headers.x-team': 'blue' } }] }),
    result: z
      .object({ fields: z.record(z.string(), z.enum(['same', 'different', 'not_set', 'unknown'])) })
      .meta({ id: 'SecretComparison' }),
    errors: ['endpoint_not_found'],
    keepsResult: false,
    isRepeatable: true,
  }),
  rotateSecret: defineOperation({
    id: 'rotateEndpointSecret',
    method: 'POST',
    path: '/v1/endpoints/{name}/rotate-secret',
    tag,
    summary: 'Rotate the signing secret',
    description:
      'For `overlapMs`, requests carry two signatures, so that receivers can switch without a gap.',
    permission: 'configure',
    params: endpointParams,
    body: z
      .strictObject({
        overlapMs: field
          .wholeNumber(0, 30 * 86_400_000)
          .optional()
          .meta({
            description: 'How long the replaced secret stays in use; a day by default. Use 0 if it leaked.',
          }),
        secret: field
          .text(200)
          .optional()
          .meta({ description: 'Your own secret, like `whsec_…`; generated by default.' }),
        ...because,
      })
      .meta({ examples: [{ overlapMs: 3_600_000 }] }),
    isBodyOptional: true,
    result: z
      .object({
        endpoint: z.string(),
        secret: z.string().optional().meta({ description: 'Returned only once.' }),
        previousExpiresAt: timestamp.nullable(),
      })
      .meta({ id: 'RotatedSecret' }),
    errors: ['endpoint_not_found', 'invalid_endpoint', 'invalid_options', 'encryption_key_missing'],
    shownOnce: ['secret'],
  }),
  test: defineOperation({
    id: 'testEndpoint',
    method: 'POST',
    path: '/v1/endpoints/{name}/test',
    tag,
    summary: 'Send a signed test event to an endpoint and explain the result',
    description: 'Nothing is stored, and the circuit is not affected.',
    permission: 'operate',
    params: endpointParams,
    body: z.strictObject({ payload: z.unknown().optional() }).meta({ examples: [{ payload: { id: 17 } }] }),
    isBodyOptional: true,
    result: endpointTest,
    errors: ['endpoint_not_found', 'invalid_payload'],
    keepsResult: false,
  }),
  request: defineOperation({
    id: 'requestEndpoint',
    method: 'POST',
    path: '/v1/endpoints/{name}/request',
    tag,
    summary: 'Call an endpoint and wait for its response',
    description:
      'Goes through the circuit breaker. If the circuit is open, the response is 503 `circuit_open` with Retry-After. The audit log records the caller and the path.',
    permission: 'call',
    params: endpointParams,
    body: requestInput,
    isBodyOptional: true,
    result: requestResult,
    errors: ['endpoint_not_found', 'circuit_open', 'endpoint_unavailable', 'invalid_payload'],
    keepsResult: false,
    maxBodyBytes: 2 * 1024 * 1024,
  }),
}

function endpointSwitch(action: string, summary: string, description?: string) {
  const camel = action.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase())
  return defineOperation({
    id: action === 'reset-circuit' ? 'resetEndpointCircuit' : `${camel}Endpoint`,
    method: 'POST',
    path: `/v1/endpoints/{name}/${action}`,
    tag,
    summary,
    ...(description !== undefined && { description }),
    permission: 'operate',
    params: endpointParams,
    body: reason,
    isBodyOptional: true,
    result: endpointHealth,
    errors: ['endpoint_not_found'],
  })
}
