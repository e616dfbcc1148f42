import { z } from 'zod'
import { endpointInput } from '../core/endpoints/endpoint-input.ts'
import type { EndpointChanges, EndpointInput, WithTransport } from '../core/endpoints/endpoint-types.ts'
import { requestPathProblem } from '../core/endpoints/request-path.ts'
import { field } from '../core/field.ts'
import { defineOperation } from './define-operation.ts'
import { describedEndpointChanges, describedEndpointInput, describeShown } from './described-endpoints.ts'
import { readAs, typedAs } from './read-as.ts'
import {
  type Because,
  because,
  jsonObject,
  listOf,
  pageQuery,
  queryFlag,
  queryNumber,
  timestamp,
} from './shapes.ts'

const tag = 'Endpoints'
const maxCompared = 100

export const endpointParams = z.object({
  name: z
    .string()
    .max(255)
    .meta({ description: 'The endpoint.', examples: ['crm'] }),
})

const endpointPolicies = {
  retry: z.object({
    strategy: z.enum(['exponential', 'linear', 'fixed', 'schedule']),
    baseDelayMs: z.int(),
    maxDelayMs: z.int(),
    incrementMs: z.int(),
    maxRetries: z.int().meta({ description: 'Tries after the first.' }),
    jitter: z.enum(['none', 'full', 'equal']),
    giveUpAfterMs: z.int(),
    delaysMs: z.array(z.int()),
  }),
  request: z.object({
    maxRetries: z.int(),
    baseDelayMs: z.int(),
    maxDelayMs: z.int(),
    deadlineMs: z.int(),
    retryOn: z.array(z.int()),
  }),
  circuit: z.object({ threshold: z.int(), cooldownMs: z.int() }),
  limits: z.object({
    concurrency: z.int(),
    ratePerSecond: z.number().nullable(),
    maxPending: z.int(),
    onFull: z.enum(['dead_letter', 'reject']),
  }),
  autoDisable: z.object({
    onGone: z.boolean(),
    threshold: z.int().nullable(),
    windowMs: z.int(),
    reenableAfterMs: z.int().nullable(),
  }),
  onDead: z.enum(['continue', 'block']),
  batch: z.object({ maxMessages: z.int(), maxBytes: z.int().optional(), maxWaitMs: z.int() }).nullable(),
  holdOn: z.array(z.int()).optional(),
}

const shownShape = {
  name: z.string(),
  tenant: z.string().nullable(),
  tags: z.array(z.string()),
  contact: z.string().nullable(),
  preset: z.string(),
  eventTypes: z.array(z.string()),
  secrets: z
    .array(
      z.object({
        field: z.string(),
        keyId: z.string(),
        setAt: timestamp,
        expiresAt: timestamp.nullable(),
      }),
    )
    .meta({ description: 'Which secrets are set, by their place in `config`; never what they are.' }),
  ...endpointPolicies,
  state: z
    .enum(['active', 'paused', 'rejecting', 'disabled'])
    .meta({ description: 'Whether it is delivered to, and who stopped that.' }),
  stateReason: z.string().nullable().meta({ description: 'Why it has that state.' }),
  createdAt: timestamp,
  updatedAt: timestamp,
}

export const endpointShape = shownEndpoint('Endpoint', shownShape)

/** An endpoint as answers show it: `config` is passed on as its transport stored it, and described per transport for types and OpenAPI. */
function shownEndpoint<Common extends z.ZodRawShape>(name: string, common: Common) {
  const shape = z.object({ ...common, transport: z.string(), config: jsonObject })
  type Output = WithTransport<z.output<typeof shape>>
  type Input = WithTransport<z.input<typeof shape>>
  return readAs(shape, describeShown(name, common)) as unknown as z.ZodType<Output, Input>
}

const endpointHealth = z
  .object({
    state: z.enum(['active', 'paused', 'rejecting', 'disabled', 'held']),
    reason: z.string().nullable(),
    circuit: z.object({
      state: z.enum(['closed', 'open', 'half_open']),
      failures: z.int(),
      openedAt: timestamp.nullable(),
      probeAt: timestamp.nullable(),
    }),
    heldUntil: timestamp.nullable(),
    pending: z.int(),
    inFlight: z.int(),
    oldestDueMs: z.int(),
    deadLetters: z.int(),
  })
  .meta({ id: 'EndpointHealth' })

const listedHealth = endpointHealth
  .extend({
    name: z.string(),
    url: z.string().nullable().meta({ description: 'Where an HTTP endpoint is.' }),
    tags: z.array(z.string()),
    concurrency: z.int().meta({ description: 'How many requests may be in flight at once.' }),
    successRate: z.number().nullable().meta({ description: 'Over the last 24 hours.' }),
    p95Ms: z.number().nullable().meta({ description: 'How long attempts took, over the last 24 hours.' }),
    series: z
      .array(z.object({ at: timestamp, attempts: z.int(), successes: z.int() }))
      .meta({ description: 'The last 24 hours, by the hour; an hour without attempts is left out.' }),
  })
  .meta({ id: 'ListedEndpointHealth' })

const reason = z.strictObject(because).meta({ examples: [{ reason: 'Planned work until nine.' }] })

const createdEndpoint = shownEndpoint('CreatedEndpoint', {
  ...shownShape,
  signingSecret: z
    .string()
    .optional()
    .meta({ description: 'Shown this once: what receivers verify signatures with.' }),
})

const endpointTest = z
  .object({
    endpoint: z.string(),
    ok: z.boolean().meta({ description: 'Whether a delivery would have succeeded.' }),
    class: z.enum(['success', 'retryable', 'permanent', 'gone', 'throttled']),
    messageId: z.string(),
    status: z.int().nullable(),
    finding: z.string().meta({ description: 'For programs: `ok`, `slow`, `html`, `tls_expired`, …' }),
    explanation: z.string().meta({ description: 'For people: what is wrong, and what to do.' }),
    durationMs: z.number(),
    timings: jsonObject.nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    request: jsonObject.nullable(),
    response: jsonObject.nullable(),
  })
  .meta({ id: 'EndpointTest' })

const requestInput = z
  .strictObject({
    path: field
      .text(2048)
      .superRefine((path, context) => {
        const problem = requestPathProblem(path)
        if (problem !== null) context.addIssue({ code: 'custom', message: problem })
      })
      .optional()
      .meta({
        description:
          "Appended to the endpoint's URL, and stays below it: without `..`, in whatever encoding.",
      }),
    method: field.oneOf('GET', 'POST', 'PUT', 'PATCH', 'DELETE').optional(),
    payload: z.unknown().optional(),
    headers: z.record(z.string(), z.string()).optional(),
  })
  .meta({ id: 'RequestInput', examples: [{ path: '/customers/17', method: 'GET' }] })

const requestResult = z
  .object({
    ok: z.boolean(),
    status: z.int().nullable(),
    body: z.string().nullable(),
    latencyMs: z.number(),
    attempts: z.int(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
  })
  .meta({ id: 'RequestResult' })

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
      tag: field.text(64).optional().meta({ description: 'Only those with this tag.' }),
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
    summary: 'Look at an endpoint',
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
    summary: 'Change settings of an endpoint',
    description:
      'What is given changes, what is left out stays. Objects such as `retry` are merged field by field.',
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
      'Refused while it owes deliveries or routes lead to it, unless `force=true`: then what is owed ends as cancelled.',
    permission: 'configure',
    params: endpointParams,
    query: z.strictObject({ force: queryFlag.default(false), ...because }),
    result: z.object({
      cancelled: z.int().meta({ description: 'Deliveries that ended as cancelled at once.' }),
      operation: z
        .string()
        .nullable()
        .meta({ description: 'The operation that cancels the rest, when more than a hundred were owed.' }),
    }),
    errors: ['endpoint_not_found', 'still_owed'],
  }),
  health: defineOperation({
    id: 'getEndpointHealth',
    method: 'GET',
    path: '/v1/endpoints/{name}/health',
    tag,
    summary: 'Circuit, backlog and dead letters of an endpoint',
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
    summary: 'Circuit, backlog and the last 24 hours of many endpoints, by name',
    permission: 'read',
    query: z.strictObject({
      limit: queryNumber(1, 200).default(50).meta({ description: 'How many to return at most.' }),
      cursor: pageQuery.cursor,
      q: field.text(63).optional().meta({ description: 'Part of the name.' }),
      tag: field.text(64).optional(),
      state: field.oneOf('active', 'paused', 'rejecting', 'disabled').optional(),
      troubled: queryFlag
        .default(false)
        .meta({ description: 'Only those that are stopped or held, or whose circuit is not closed.' }),
    }),
    result: listOf(listedHealth),
  }),
  pause: endpointSwitch('pause', 'Stop deliveries and keep them', 'It also stops the clock of giving up.'),
  resume: endpointSwitch('resume', 'End a pause, a `rejecting` or a disabling'),
  enable: endpointSwitch('enable', 'End a disabling'),
  disable: endpointSwitch('disable', 'Disable an endpoint and keep what it owes'),
  resetCircuit: endpointSwitch('reset-circuit', 'Close the circuit and clear a hold'),
  resetAllCircuits: defineOperation({
    id: 'resetAllCircuits',
    method: 'POST',
    path: '/v1/endpoints/reset-circuit',
    tag,
    summary: 'Close every circuit and clear every hold',
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
    summary: 'Which secrets are set, each with a digest that changes when it does',
    description:
      'A digest is keyed with the encryption key: it can be compared with an earlier one of the same field, and tells nothing else.',
    permission: 'configure',
    params: endpointParams,
    result: z
      .object({
        data: z.array(
          z.object({
            field: z.string().meta({ description: 'Its place in `config`.', examples: ['headers.x-team'] }),
            keyId: z.string().nullable().meta({
              description:
                'Null: stored before such values were encrypted; see `holdfast secrets reencrypt`.',
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
    summary: 'Compare values with those that are stored, without seeing them',
    permission: 'configure',
    params: endpointParams,
    body: z
      .strictObject({
        values: z
          .record(z.string().max(255), z.string().max(65_536))
          .refine(
            (values) => Object.keys(values).length <= maxCompared,
            `takes ${maxCompared} fields at most`,
          )
          .meta({ description: 'By place in `config`: the value, or `digest:` and a digest.' }),
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
    summary: 'Replace the secret that requests are signed with',
    description:
      'For `overlapMs` requests carry two signatures, so that receivers can change over without a gap.',
    permission: 'configure',
    params: endpointParams,
    body: z
      .strictObject({
        overlapMs: field
          .wholeNumber(0, 30 * 86_400_000)
          .optional()
          .meta({ description: 'How long the replaced secret is used, a day by default. 0: it leaked.' }),
        secret: field
          .text(200)
          .optional()
          .meta({ description: 'Your own, like `whsec_…`; left out, one is made.' }),
        ...because,
      })
      .meta({ examples: [{ overlapMs: 3_600_000 }] }),
    isBodyOptional: true,
    result: z
      .object({
        endpoint: z.string(),
        secret: z.string().optional().meta({ description: 'Shown this once.' }),
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
    summary: 'Send one signed test event, and say in plain words what the receiver did',
    description: 'Nothing is stored, and the circuit does not hear of it.',
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
    summary: 'Call an endpoint and wait for its answer',
    description:
      'Goes through the circuit breaker. An open circuit answers 503 `circuit_open` with Retry-After. The audit log says who called which path.',
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
