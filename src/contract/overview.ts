import { z } from 'zod'
import { defineOperation } from './define-operation.ts'
import { timestamp } from './shapes.ts'

export const overviewOperations = {
  get: defineOperation({
    id: 'getOverview',
    method: 'GET',
    path: '/v1/overview',
    tag: 'Overview',
    summary: 'Everything at a glance: nodes, backlog, dead letters, endpoints that need somebody first',
    permission: 'read',
    result: z
      .object({
        version: z.string(),
        nodes: z.array(
          z.object({
            name: z.string(),
            version: z.string(),
            startedAt: timestamp,
            lastBeatAt: timestamp,
            isStopping: z.boolean(),
          }),
        ),
        totals: z.object({ pending: z.int(), inFlight: z.int(), deadLetters: z.int() }),
        endpoints: z
          .array(
            z.object({
              name: z.string(),
              state: z.enum(['active', 'paused', 'rejecting', 'disabled', 'held']),
              reason: z.string().nullable(),
              circuit: z.enum(['closed', 'open', 'half_open']),
              pending: z.int(),
              inFlight: z.int(),
              deadLetters: z.int(),
              oldestDueMs: z.number(),
            }),
          )
          .meta({ description: 'At most 200.' }),
      })
      .meta({ id: 'Overview' }),
  }),
}
