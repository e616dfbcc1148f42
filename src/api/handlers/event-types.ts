import type { eventTypeOperations } from '../../contract/event-types.ts'
import type { HandlersFor } from '../call.ts'
import { decodeCursor, toPage } from '../cursor.ts'

export const eventTypeHandlers: HandlersFor<typeof eventTypeOperations> = {
  list: async ({ query, management }) => {
    const { limit, cursor } = query
    const rows = await management.eventTypes.list({
      afterName: decodeCursor('event-types', cursor),
      limit: limit + 1,
    })
    return toPage('event-types', rows, limit, ({ name }) => name)
  },
  create: async ({ body, management }) => management.eventTypes.create(body),
  get: async ({ params, management }) => management.eventTypes.get(params.name),
  put: async ({ params, body: { reason, ...settings }, management }) =>
    management.eventTypes.put({ ...settings, name: params.name }, { reason }),
  delete: async ({ params, query, management }) => {
    await management.eventTypes.delete(params.name, { reason: query.reason })
  },
  recent: async ({ management }) => management.eventTypes.recent(),
  check: async ({ params, body, management }) => management.eventTypes.check(params.name, body.schema),
}
