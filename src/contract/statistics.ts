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

export const statisticsOperations = {
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
      })
      .meta({ id: 'EndpointStatistics' }),
    errors: ['endpoint_not_found'],
  }),
}
