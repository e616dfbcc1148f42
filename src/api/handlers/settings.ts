import type { settingOperations } from '../../contract/settings.ts'
import type { HandlersFor } from '../call.ts'

export const settingHandlers: HandlersFor<typeof settingOperations> = {
  list: async ({ management }) => ({ data: await management.settings.list() }),
  update: async ({ body: { reason, ...changes }, management }) => ({
    data: await management.settings.update(changes, reason),
  }),
}
