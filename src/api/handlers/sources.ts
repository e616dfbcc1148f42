import type { sourceOperations, sourceRejectOperations } from '../../contract/sources.ts'
import type { HandlersFor } from '../call.ts'
import { decodeCursor, decodeNumberCursor, toPage } from '../cursor.ts'

export const sourceHandlers: HandlersFor<typeof sourceOperations> = {
  list: async ({ query: { limit, cursor }, management }) => {
    const rows = await management.sources.list({
      afterName: decodeCursor('sources', cursor),
      limit: limit + 1,
    })
    return toPage('sources', rows, limit, ({ name }) => name)
  },
  create: async ({ body, management }) => management.sources.create(body),
  get: async ({ params, management }) => management.sources.get(params.name),
  update: async ({ params, body: { reason, ...changes }, management }) =>
    management.sources.update(params.name, changes, { reason }),
  delete: async ({ params, query, management }) => management.sources.delete(params.name, query),
  pause: async ({ params, body, management }) => management.sources.pause(params.name, body),
  resume: async ({ params, body, management }) => management.sources.resume(params.name, body),
  retryRejects: async ({ params, management }) => management.sourceRejects.retryAll(params.name),
  discardRejects: async ({ params, management }) => ({
    discarded: await management.sourceRejects.discardAll(params.name),
  }),
}

export const sourceRejectHandlers: HandlersFor<typeof sourceRejectOperations> = {
  list: async ({ query: { limit, cursor, source }, management }) => {
    const beforeId = decodeNumberCursor('source-rejects', cursor)
    const rows = await management.sourceRejects.list({ source, beforeId, limit: limit + 1 })
    const page = toPage('source-rejects', rows, limit, ({ id }) => String(id))
    return { ...page, data: page.data.map((reject) => ({ ...reject, id: String(reject.id) })) }
  },
  get: async ({ params, management }) => {
    const reject = await management.sourceRejects.get(Number(params.id))
    return { ...reject, id: String(reject.id) }
  },
  retry: async ({ params, management }) => management.sourceRejects.retry(Number(params.id)),
  discard: async ({ params, management }) => {
    await management.sourceRejects.discard(Number(params.id))
  },
}
