import type { deliveryOperations } from '../../contract/deliveries.ts'
import type { Delivery } from '../../sdk/deliveries.ts'
import type { HandlersFor } from '../call.ts'

export const deliveryHandlers: HandlersFor<typeof deliveryOperations> = {
  list: async ({ query, management }) => management.deliveries.list(query),
  get: async ({ params, management }) => whole(await management.deliveries.get(params.id)),
  why: async ({ params, management }) => management.deliveries.why(params.id),
  retry: async ({ params, management }) => whole(await management.deliveries.retry(params.id)),
  cancel: async ({ params, body, management }) =>
    whole(
      await management.deliveries.cancel(params.id, body.reason === undefined ? {} : { reason: body.reason }),
    ),
}

export function whole(delivery: Delivery) {
  return { ...delivery, attempts: delivery.attempts ?? [] }
}
