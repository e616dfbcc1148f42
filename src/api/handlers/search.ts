import type { searchOperations } from '../../contract/search.ts'
import type { HandlersFor } from '../call.ts'

export const searchHandlers: HandlersFor<typeof searchOperations> = {
  find: async ({ query, management }) => ({ data: await management.search.find(query.q) }),
}
