import type { systemOperations } from '../../contract/system.ts'
import type { HandlersFor } from '../call.ts'
import { decodeCursor, toPage } from '../cursor.ts'

export const systemHandlers: HandlersFor<typeof systemOperations> = {
  status: async ({ management }) => {
    const { nodes, ...status } = await management.system.status()
    return { ...status, nodes: [...nodes] }
  },
  tables: async ({ query: { limit, cursor }, management }) => {
    const rows = await management.system.tables({
      afterName: decodeCursor('tables', cursor),
      limit: limit + 1,
    })
    return toPage('tables', rows, limit, ({ name }) => name)
  },
  checks: async ({ management }) => ({ data: await management.system.checks() }),
}
