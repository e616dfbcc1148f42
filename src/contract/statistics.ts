import { z } from 'zod'
import { field } from '../core/field.ts'
import { defineOperation } from './define-operation.ts'
import { endpointParams } from './endpoints.ts'
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
  accepted: z.int().meta({ description: 'Events accepted. Counted when a minute is over.' }),
  delivered: z.int(),
  failed: z.int().meta({ description: 'Attempts that failed. A throttled one is no failure.' }),
}

export const statisticsOperations = {
  site: defineOperation({
    id: 'getStatistics',
    method: 'GET',
    path: '/v1/statistics',
    tag: 'Overview',
    summary: 'Events accepted, delivered and failed, latency and backlog over a window',
    permission: 'read',
    query: z.strictObject({ window }),
    result: z
      .object({
        window: z.string(),
        stepMs: z.int(),
        ...siteSums,
        latencyMs: latency.meta({
          description: 'From acceptance, or from when it was due, to delivery.',
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
                .meta({ description: 'The most deliveries that were owed, sampled once a minute.' }),
              latencyMs: latency,
            }),
          )
          .meta({ description: 'The oldest first. The last step is not over yet.' }),
      })
      .meta({ id: 'Statistics' }),
  }),
  endpoint: defineOperation({
    id: 'getEndpointStatistics',
    method: 'GET',
    path: '/v1/endpoints/{name}/statistics',
    tag: 'Endpoints',
    summary: 'Success rate, latency, answers and throughput over a window',
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
            'The most that it was owed in each step, sampled once a minute; a step without a sample is left out.',
        }),
      })
      .meta({ id: 'EndpointStatistics' }),
    errors: ['endpoint_not_found'],
  }),
}
