import type { settingOperations } from '../../contract/settings.ts'
import type { HandlersFor } from '../call.ts'

export const settingHandlers: HandlersFor<typeof settingOperations> = {
  list: async ({ management }) => ({ data: await management.settings.list() }),
  update: async ({ body, management }) => ({ data: await management.settings.update(body) }),
}
