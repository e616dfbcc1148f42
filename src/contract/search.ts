import { z } from 'zod'
import { field } from '../core/field.ts'
import { defineOperation } from './define-operation.ts'

export const searchOperations = {
  find: defineOperation({
    id: 'search',
    method: 'GET',
    path: '/v1/search',
    tag: 'Overview',
    summary: 'Find things by a part of their name, or learn what an id names',
    description:
      'Endpoints, routes, event types, jobs, queues, schedules and workers, at most eight of a kind. An id is told by its form alone: whether it exists, its own call says.',
    permission: 'read',
    query: z.strictObject({
      q: field.text(255).meta({ description: 'Part of a name in any case, or an id.', examples: ['crm'] }),
    }),
    result: z.object({
      data: z.array(
        z
          .object({
            kind: z.string().meta({ examples: ['endpoint'] }),
            name: z.string(),
            hint: z.string().nullable().meta({ description: 'Its state, or what tells it from others.' }),
          })
          .meta({ id: 'Found' }),
      ),
    }),
  }),
}
