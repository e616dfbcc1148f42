import { z } from 'zod'
import { defineOperation } from './define-operation.ts'
import { timestamp } from './shapes.ts'

const attention = z
  .object({
    kind: z
      .string()
      .meta({ description: 'For programs: `circuit_open`, `rejecting`, `held`, `dead_letters` …' }),
    severity: z.enum(['critical', 'warning', 'notice']),
    subject: z
      .string()
      .nullable()
      .meta({
        description: 'As in the audit log: `endpoint:crm`. Null: all of Holdfast.',
        examples: ['endpoint:crm'],
      }),
    sentence: z.string().meta({ description: 'For people: what is wrong, and what it costs.' }),
    since: timestamp.nullable(),
    until: timestamp
      .nullable()
      .meta({ description: 'When something happens by itself: the next probe, the end of a hold.' }),
    recovers: z.boolean().meta({ description: 'Nobody has to do anything.' }),
  })
  .meta({ id: 'Attention' })

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
        attention: z.array(attention).meta({
          description: 'What is wrong, the most urgent first, what recovers on its own last; at most 200.',
        }),
        firingAlerts: z.int().meta({ description: 'How many alerts fire; 100 means as many or more.' }),
        changes: z.array(z.object({ at: timestamp, action: z.string(), subject: z.string() })).meta({
          description:
            'The last 50 changes, the newest first: what people changed, circuits that opened and closed, nodes and workers that started.',
        }),
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
