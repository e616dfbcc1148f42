import type { settingOperations } from '../../contract/settings.ts'
import type { HandlersFor } from '../call.ts'
import { pageOfWhole } from '../whole-list.ts'

export const settingHandlers: HandlersFor<typeof settingOperations> = {
  list: async ({ query, management }) =>
    pageOfWhole('settings', await management.settings.list(), query, ({ name }) => name),
  update: async ({ body: { reason, ...changes }, management }) => ({
    data: await management.settings.update(changes, reason),
  }),
}
