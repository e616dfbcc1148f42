import type { brokerOperations } from '../../contract/broker.ts'
import type { HandlersFor } from '../call.ts'

export const brokerHandlers: HandlersFor<typeof brokerOperations> = {
  status: async ({ management }) => {
    const { nodes, exchanges, queues, problems, ...rest } = await management.broker.status()
    return {
      ...rest,
      nodes: [...nodes],
      exchanges: [...exchanges],
      queues: [...queues],
      problems: [...problems],
    }
  },
}
