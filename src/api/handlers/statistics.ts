import type { statisticsOperations } from '../../contract/statistics.ts'
import type { HandlersFor } from '../call.ts'

export const statisticsHandlers: HandlersFor<typeof statisticsOperations> = {
  site: async ({ query, management }) => management.statistics.site(query),
  endpoint: async ({ params, query, management }) => management.statistics.endpoint(params.name, query),
}
