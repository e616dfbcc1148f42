import type { maintenanceOperations } from '../../contract/maintenance.ts'
import type { HandlersFor } from '../call.ts'

export const maintenanceHandlers: HandlersFor<typeof maintenanceOperations> = {
  status: async ({ management }) => {
    const { leader, tasks } = await management.maintenance.status()
    return { leader, tasks: tasks.map((task) => ({ ...task, schedule: { ...task.schedule } })) }
  },
  run: async ({ params, management }) => {
    await management.maintenance.run(params.task)
  },
}
