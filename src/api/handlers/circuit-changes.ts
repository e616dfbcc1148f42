import type { circuitChangeOperations } from '../../contract/circuit-changes.ts'
import type { HandlersFor } from '../call.ts'
import { decodeNumberCursor, toPage } from '../cursor.ts'

export const circuitChangeHandlers: HandlersFor<typeof circuitChangeOperations> = {
  list: async ({ query, management }) => {
    const { limit, cursor, endpoint } = query
    const beforeId = decodeNumberCursor('circuit-changes', cursor)
    const rows = await management.circuitChanges.list({ endpoint, beforeId, limit: limit + 1 })
    const page = toPage('circuit-changes', rows, limit, ({ id }) => String(id))
    return { ...page, data: page.data.map((change) => ({ ...change, id: String(change.id) })) }
  },
}
