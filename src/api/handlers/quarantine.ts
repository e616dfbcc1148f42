import type { quarantineOperations } from '../../contract/quarantine.ts'
import type { HandlersFor } from '../call.ts'
import { decodeNumberCursor, toPage } from '../cursor.ts'

export const quarantineHandlers: HandlersFor<typeof quarantineOperations> = {
  list: async ({ query: { limit, cursor }, management }) => {
    const rows = await management.quarantine.list({
      beforeId: decodeNumberCursor('quarantine', cursor),
      limit: limit + 1,
    })
    const page = toPage('quarantine', rows, limit, ({ id }) => String(id))
    return {
      ...page,
      data: page.data.map((kept) => ({ ...kept, id: String(kept.id), result: { ...kept.result } })),
    }
  },
  retry: async ({ params, management }) => ({
    stored: await management.quarantine.retry(Number(params.id)),
  }),
  release: async ({ params, management }) => {
    await management.quarantine.release(Number(params.id))
  },
}
