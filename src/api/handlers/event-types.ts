import type { eventTypeOperations } from '../../contract/event-types.ts'
import { type HandlersFor, preparedHandler } from '../call.ts'
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
  create: preparedHandler({
    before: async ({ body, management }) => management.eventTypes.prepare(body),
    perform: async ({ management }, prepared) => management.eventTypes.create(prepared),
  }),
  get: async ({ params, management }) => management.eventTypes.get(params.name),
  put: preparedHandler({
    before: async ({ params, body, management }) => {
      const { description, schema, criticality } = body
      return management.eventTypes.prepare({ name: params.name, description, schema, criticality })
    },
    perform: async ({ body: { reason }, management }, prepared) =>
      management.eventTypes.put(prepared, { reason }),
  }),
  delete: async ({ params, query, management }) => {
    await management.eventTypes.delete(params.name, { reason: query.reason })
  },
  recent: async ({ management }) => management.eventTypes.recent(),
  check: async ({ params, body, management }) => management.eventTypes.check(params.name, body.schema),
}
