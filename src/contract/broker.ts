import { z } from 'zod'
import { defineOperation } from './define-operation.ts'
import { timestamp } from './shapes.ts'

const node = z
  .object({
    node: z.string(),
    state: z.enum(['connected', 'blocked', 'disconnected']).meta({
      description: '`blocked`: connected, but the broker accepts no messages, as `error` says.',
    }),
    since: timestamp.meta({ description: 'Since when it is in this state.' }),
    error: z.string().nullable().meta({ description: 'Why it is blocked or disconnected.' }),
    lastFailure: z.object({ error: z.string(), at: timestamp }).nullable().meta({
      description: 'Why the last connection was lost or refused; it stays when another is open.',
    }),
    server: z
      .string()
      .nullable()
      .meta({ examples: ['RabbitMQ 3.10.8'] }),
    dispatched: z.int().meta({ description: 'Runs that it has published since it started.' }),
    unacknowledged: z.int().meta({ description: 'Messages that it has received and not acknowledged yet.' }),
    reportedAt: timestamp,
  })
  .meta({ id: 'BrokerNode' })

const queue = z
  .object({
    name: z.string(),
    kind: z.enum(['results', 'beats', 'dead_letters', 'shared', 'worker']).meta({
      description: '`shared`: of a job queue, for all of its workers. `worker`: of the workers of one name.',
    }),
    worker: z.string().nullable(),
    ttlMs: z.number().nullable().meta({
      description: 'Of a queue of a worker; it is part of its name unless it is the default.',
    }),
    state: z.enum(['active', 'draining', 'retired']).meta({
      description:
        '`draining`: of a former TTL, consumed until it is empty. `retired`: no worker of its name is alive; a node removes it when it is empty.',
    }),
    isAsDeclared: z.boolean().meta({
      description: 'False: it exists on the broker with other arguments, as `problems` says.',
    }),
    arguments: z
      .record(z.string(), z.union([z.string(), z.number(), z.boolean()]))
      .meta({ description: 'As it is declared.' }),
    messages: z.int().nullable().meta({
      description: 'Ready messages; null: no node has looked yet, or the broker has no such queue.',
    }),
    consumers: z.int().nullable(),
    seenAt: timestamp.nullable().meta({ description: 'When a node last looked.' }),
  })
  .meta({ id: 'BrokerQueue' })

const problem = z
  .object({
    subject: z.string().meta({ description: 'The node, queue or setting that it is about.' }),
    isSevere: z.boolean().meta({ description: 'Whether runs wait because of it.' }),
    message: z.string(),
    fix: z.string().meta({ description: 'What to do.' }),
  })
  .meta({ id: 'BrokerProblem' })

const deadLetters = z
  .object({
    handled: z.int(),
    failed: z.int(),
    failedExpired: z.int().meta({ description: "Of `failed`: the run's TTL had passed." }),
    failedDeliveryLimit: z
      .int()
      .meta({ description: 'Of `failed`: consumers returned the message too often.' }),
    failedRejected: z.int().meta({ description: 'Of `failed`: a consumer rejected the message.' }),
    returned: z.int().meta({ description: 'Their runs went back to their queues.' }),
    ended: z.int().meta({
      description: 'Nothing was to be done: their runs had started or ended, or are unknown.',
    }),
    unreadable: z.int(),
    latencyP50Ms: z.number().nullable().meta({
      description:
        'From the dead-lettering by the broker to the commit, of the last 200 of each node: those of the slowest node.',
    }),
    latencyP95Ms: z.number().nullable(),
  })
  .meta({
    id: 'BrokerDeadLetters',
    description: 'Messages of the dead-letter queue that the live nodes have handled since they started.',
  })

export const brokerOperations = {
  status: defineOperation({
    id: 'getBroker',
    method: 'GET',
    path: '/v1/broker',
    tag: 'Broker',
    summary: 'Broker mode: connections of the nodes, topology, what waits and what differs',
    description: 'As the nodes last reported: every 2 seconds, and queues every 8 seconds or more.',
    permission: 'read',
    result: z
      .object({
        isConfigured: z
          .boolean()
          .meta({ description: 'Whether a live node has a broker; if not, the rest is empty.' }),
        prefix: z.string().nullable().meta({ description: 'Begins every name on the broker.' }),
        nodes: z.array(node),
        workers: z.int().meta({ description: 'Live workers that get their runs over the broker.' }),
        exchanges: z.array(z.object({ name: z.string(), type: z.string() })),
        queues: z.array(queue).meta({ description: 'At most 500; those that need attention come first.' }),
        queueCount: z.int(),
        problems: z
          .array(problem)
          .meta({ description: 'What differs from what is expected, the severest first.' }),
        unstarted: z
          .int()
          .meta({ description: 'Runs that were dispatched and have not started, counted to 10,000.' }),
        oldestUnstartedAt: timestamp.nullable().meta({ description: 'When the oldest was dispatched.' }),
        deadLetters,
        rejects: z.int().meta({ description: 'Messages that no node could read, counted to 10,000.' }),
      })
      .meta({ id: 'Broker' }),
  }),
}
