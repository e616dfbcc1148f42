import type { statisticsOperations } from '../../contract/statistics.ts'
import type { HandlersFor } from '../call.ts'

export const statisticsHandlers: HandlersFor<typeof statisticsOperations> = {
  endpoint: async ({ params, query, management }) => management.statistics.endpoint(params.name, query),
}
