import { z } from 'zod'
import { defineOperation } from './define-operation.ts'
import { jsonObject, timestamp } from './shapes.ts'

const tag = 'Maintenance'

const task = z
  .object({
    name: z.string(),
    schedule: jsonObject,
    state: z.enum(['idle', 'running', 'failing']),
    node: z.string().nullable(),
    lastStartedAt: timestamp.nullable(),
    lastDurationMs: z.int().nullable(),
    lastSucceededAt: timestamp.nullable(),
    lastFailedAt: timestamp.nullable(),
    lastError: z.string().nullable(),
    failures: z.int().meta({ description: 'Consecutive failures.' }),
    summary: jsonObject.nullable(),
    nextRunAt: timestamp,
  })
  .meta({ id: 'MaintenanceTask' })

export const maintenanceOperations = {
  status: defineOperation({
    id: 'getMaintenance',
    method: 'GET',
    path: '/v1/maintenance',
    tag,
    summary: 'Get the leader node and the last result of each maintenance task',
    permission: 'read',
    result: z.object({
      leader: z.object({ term: z.int(), node: z.string().nullable(), since: timestamp.nullable() }),
      tasks: z.array(task),
    }),
  }),
  run: defineOperation({
    id: 'runMaintenanceTask',
    method: 'POST',
    path: '/v1/maintenance/{task}/run',
    tag,
    summary: 'Run a maintenance task now (the leader starts it within about a second)',
    permission: 'operate',
    params: z.object({
      task: z
        .string()
        .max(100)
        .meta({ examples: ['partitions'] }),
    }),
    status: 204,
    errors: ['task_not_found'],
  }),
}
