import { z } from 'zod'
import { requestPathProblem } from '../core/endpoints/request-path.ts'
import { field } from '../core/field.ts'
import type { WithTransport } from '../transports/endpoint-types.ts'
import { describeShown } from './described-endpoints.ts'
import { readAs } from './read-as.ts'
import { jsonObject, timestamp } from './shapes.ts'
import { shownSettings } from './shown-settings.ts'

export const endpointParams = z.object({
  name: z
    .string()
    .max(255)
    .meta({ description: 'The endpoint.', examples: ['crm'] }),
})

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
    .meta({ description: 'Which secrets are set, by their path in `config`; values are never returned.' }),
  ...shownSettings,
  state: z.enum(['active', 'paused', 'rejecting', 'disabled']).meta({
    description:
      'Whether messages are delivered to it, and if not, whether a person or Holdfast stopped that.',
  }),
  stateReason: z.string().nullable().meta({ description: 'The reason of the state.' }),
  createdAt: timestamp,
  updatedAt: timestamp,
}

export const endpointShape = shownEndpoint('Endpoint', shownShape)

/** An endpoint as responses show it: `config` is returned as its transport stored it, and described per transport for types and OpenAPI. */
function shownEndpoint<Common extends z.ZodRawShape>(name: string, common: Common) {
  const shape = z.object({ ...common, transport: z.string(), config: jsonObject })
  type Output = WithTransport<z.output<typeof shape>>
  type Input = WithTransport<z.input<typeof shape>>
  return readAs(shape, describeShown(name, common)) as unknown as z.ZodType<Output, Input>
}

export const endpointHealth = z
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

export const listedHealth = endpointHealth
  .extend({
    name: z.string(),
    url: z.string().nullable().meta({ description: 'The URL of an HTTP endpoint.' }),
    tags: z.array(z.string()),
    concurrency: z.int().meta({ description: 'Maximum number of requests in flight.' }),
    successRate: z.number().nullable().meta({ description: 'Over the last 24 hours.' }),
    p95Ms: z.number().nullable().meta({ description: 'Duration of attempts over the last 24 hours.' }),
    series: z
      .array(z.object({ at: timestamp, attempts: z.int(), successes: z.int() }))
      .meta({ description: 'The last 24 hours, by hour; hours without attempts are left out.' }),
  })
  .meta({ id: 'ListedEndpointHealth' })

export const createdEndpoint = shownEndpoint('CreatedEndpoint', {
  ...shownShape,
  signingSecret: z
    .string()
    .optional()
    .meta({ description: 'Returned only once: the secret with which receivers verify signatures.' }),
})

export const endpointTest = z
  .object({
    endpoint: z.string(),
    ok: z.boolean().meta({ description: 'Whether a delivery would have succeeded.' }),
    class: z.enum(['success', 'retryable', 'permanent', 'gone', 'throttled']),
    messageId: z.string(),
    status: z.int().nullable(),
    finding: z.string().meta({ description: 'Machine-readable: `ok`, `slow`, `html`, `tls_expired`, …' }),
    explanation: z.string().meta({ description: 'Human-readable: the problem, and what to do.' }),
    durationMs: z.number(),
    timings: jsonObject.nullable(),
    error: z.object({ code: z.string(), message: z.string() }).nullable(),
    request: jsonObject.nullable(),
    response: jsonObject.nullable(),
  })
  .meta({ id: 'EndpointTest' })

export const requestInput = z
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
          "Appended to the endpoint's URL; it must stay below it, so `..` is rejected in every encoding.",
      }),
    method: field.oneOf('GET', 'POST', 'PUT', 'PATCH', 'DELETE').optional(),
    payload: z.unknown().optional(),
    headers: z.record(z.string(), z.string()).optional(),
  })
  .meta({ id: 'RequestInput', examples: [{ path: '/customers/17', method: 'GET' }] })

export const requestResult = z
  .object({
    ok: z.boolean(),
    status: z.int().nullable(),
    body: z.string().nullable(),
    latencyMs: z.number(),
    attempts: z.int(),
    error: z.object({ code: z.string(), message: z.string() }).optional(),
  })
  .meta({ id: 'RequestResult' })
