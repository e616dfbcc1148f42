import type { overviewOperations } from '../../contract/overview.ts'
import type { HandlersFor } from '../call.ts'

export const overviewHandlers: HandlersFor<typeof overviewOperations> = {
  // The overview of the process, whose reads concurrent callers share.
  get: async ({ holdfast }) => holdfast.overview.get(),
}
