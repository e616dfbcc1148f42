import type { overviewOperations } from '../../contract/overview.ts'
import type { HandlersFor } from '../call.ts'

export const overviewHandlers: HandlersFor<typeof overviewOperations> = {
  get: async ({ management }) => management.overview.get(),
}
