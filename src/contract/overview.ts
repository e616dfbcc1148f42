import { z } from 'zod'
import { defineOperation } from './define-operation.ts'
import { timestamp } from './shapes.ts'

const attention = z
  .object({
    kind: z
      .string()
      .meta({ description: 'Machine-readable: `circuit_open`, `rejecting`, `held`, `dead_letters` …' }),
    severity: z.enum(['critical', 'warning', 'notice']),
    subject: z
      .string()
      .nullable()
      .meta({
        description: 'As in the audit log: `endpoint:crm`. Null if it concerns the whole installation.',
        examples: ['endpoint:crm'],
      }),
    sentence: z.string().meta({ description: 'Human-readable: the problem and its effect.' }),
    since: timestamp.nullable(),
    until: timestamp
      .nullable()
      .meta({ description: 'When something happens automatically: the next probe, or the end of a hold.' }),
    recovers: z.boolean().meta({ description: 'True if it recovers without intervention.' }),
  })
  .meta({ id: 'Attention' })

export const overviewOperations = {
  get: defineOperation({
    id: 'getOverview',
    method: 'GET',
    path: '/v1/overview',
    tag: 'Overview',
    summary: 'Get an overview: nodes, backlog, dead letters, and endpoints sorted by urgency',
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
          description:
            'Problems, most urgent first, those that recover without intervention last; at most 200.',
        }),
        firingAlerts: z.int().meta({ description: 'Number of firing alerts; 100 means 100 or more.' }),
        changes: z.array(z.object({ at: timestamp, action: z.string(), subject: z.string() })).meta({
          description:
            'The last 50 changes, newest first: configuration changes, circuits that opened or closed, nodes and workers that started.',
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
