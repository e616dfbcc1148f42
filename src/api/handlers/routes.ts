import type { routeOperations } from '../../contract/routes.ts'
import type { HandlersFor } from '../call.ts'
import { decodeCursor, toPage } from '../cursor.ts'

export const routeHandlers: HandlersFor<typeof routeOperations> = {
  list: async ({ query, management }) => {
    const { limit, cursor, endpoint } = query
    const rows = await management.routes.list({
      endpoint,
      afterName: decodeCursor('routes', cursor),
      limit: limit + 1,
    })
    return toPage('routes', rows, limit, ({ name }) => name)
  },
  create: async ({ body, management }) => management.routes.create(body),
  get: async ({ params, management }) => management.routes.get(params.name),
  update: async ({ params, body: { reason, ...changes }, management }) =>
    management.routes.update(params.name, changes, { reason }),
  delete: async ({ params, query, management }) =>
    management.routes.remove(params.name, { force: query.force, reason: query.reason }),
  preview: async ({ body, management, exact }) => {
    const { rendered, error, request, ...rest } = await management.routes.preview({
      route: body.route,
      eventId: body.eventId,
      event: body.event && { ...body.event, payload: exact((given) => given.event?.payload) },
    })
    return { ...rest, rendered: asObject(rendered), error: asObject(error), request: asObject(request) }
  },
  matches: async ({ body, management }) => management.routes.matches(body.route),
}

function asObject(value: object | null): Record<string, unknown> | null {
  return value === null ? null : { ...value }
}
