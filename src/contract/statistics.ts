import { z } from 'zod'
import { field } from '../core/field.ts'
import { defineOperation } from './define-operation.ts'
import { endpointParams } from './endpoint-shapes.ts'
import { timestamp } from './shapes.ts'

const latency = z.object({
  p50: z.number().nullable(),
  p95: z.number().nullable(),
  p99: z.number().nullable(),
})

const sum = {
  attempts: z.int(),
  successes: z.int(),
  successRate: z.number().nullable(),
  latencyMs: latency,
  attemptsPerSecond: z.number(),
  answers: z.record(z.string(), z.int()),
}

const window = field.oneOf('1h', '3h', '24h', '7d', '30d').default('24h')

const siteSums = {
  accepted: z.int().meta({ description: 'Number of events accepted. Counted at the end of each minute.' }),
  delivered: z.int(),
  failed: z
    .int()
    .meta({ description: 'Number of failed attempts. Throttled attempts do not count as failures.' }),
}

export const statisticsOperations = {
  site: defineOperation({
    id: 'getStatistics',
    method: 'GET',
    path: '/v1/statistics',
    tag: 'Overview',
    summary: 'Get accepted, delivered and failed events, latency and backlog over a window',
    permission: 'read',
    query: z.strictObject({ window }),
    result: z
      .object({
        window: z.string(),
        stepMs: z.int(),
        ...siteSums,
        latencyMs: latency.meta({
          description: 'Time from acceptance, or from the due time, to delivery.',
        }),
        series: z
          .array(
            z.object({
              at: timestamp,
              ...siteSums,
              accepted: z.int().nullable().meta({ description: 'Null while they are not counted yet.' }),
              backlog: z
                .int()
                .nullable()
                .meta({ description: 'The largest number of undelivered messages, sampled once a minute.' }),
              latencyMs: latency,
            }),
          )
          .meta({ description: 'Oldest first. The last step is still in progress.' }),
      })
      .meta({ id: 'Statistics' }),
  }),
  endpoint: defineOperation({
    id: 'getEndpointStatistics',
    method: 'GET',
    path: '/v1/endpoints/{name}/statistics',
    tag: 'Endpoints',
    summary: 'Get the success rate, latency, responses and throughput of an endpoint over a window',
    permission: 'read',
    params: endpointParams,
    query: z.strictObject({ window }),
    result: z
      .object({
        endpoint: z.string(),
        window: z.string(),
        ...sum,
        series: z.array(
          z.object({ at: timestamp, attempts: z.int(), successes: z.int(), latencyMs: latency }),
        ),
        backlog: z.array(z.object({ at: timestamp, pending: z.int() })).meta({
          description:
            'The largest number of undelivered messages in each step, sampled once a minute; steps without a sample are left out.',
        }),
      })
      .meta({ id: 'EndpointStatistics' }),
    errors: ['endpoint_not_found'],
  }),
}
