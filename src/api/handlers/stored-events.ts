import type { storedEventOperations } from '../../contract/stored-events.ts'
import type { HandlersFor } from '../call.ts'
import { withExactPayload } from '../exact-body.ts'
import { whole } from './deliveries.ts'

export const storedEventHandlers: HandlersFor<typeof storedEventOperations> = {
  list: async ({ query, management }) => management.events.list(query),
  search: async ({ query, management }) => management.events.search(query),
  erase: async ({ params, body, management }) => management.events.erase(params.id, body),
  get: async ({ params, management }) => {
    const event = await management.events.get(params.id)
    return { ...withExactPayload(event), deliveries: event.deliveries.map(whole) }
  },
}
