import { z } from 'zod'
import { field } from '../core/field.ts'
import { defineOperation } from './define-operation.ts'

export const searchOperations = {
  find: defineOperation({
    id: 'search',
    method: 'GET',
    path: '/v1/search',
    tag: 'Overview',
    summary: 'Search by part of a name, or identify what an id refers to',
    description:
      'Searches endpoints, routes, event types, jobs, queues, schedules and workers, and returns at most eight of each kind. An id is identified by its form only; use the operation for its kind to check that it exists.',
    permission: 'read',
    query: z.strictObject({
      q: field
        .text(255)
        .meta({ description: 'Part of a name, case-insensitive, or an id.', examples: ['crm'] }),
    }),
    result: z.object({
      data: z.array(
        z
          .object({
            kind: z.string().meta({ examples: ['endpoint'] }),
            name: z.string(),
            hint: z.string().nullable().meta({ description: 'Its state, or another distinguishing detail.' }),
          })
          .meta({ id: 'Found' }),
      ),
    }),
  }),
}
