import type { accessOperations } from '../../contract/access.ts'
import { isAllowed, permissions } from '../../core/access/roles.ts'
import { version } from '../../version.ts'
import type { Authenticator } from '../access/authenticator.ts'
import type { HandlersFor } from '../call.ts'
import { decodeCursor, decodeNumberCursor, encodeCursor, toPage } from '../cursor.ts'

export function accessHandlers(
  authenticator: Authenticator,
  environment: string | null,
): HandlersFor<typeof accessOperations> {
  return {
    whoAmI: async ({ caller: { name, role } }) => ({
      name,
      role,
      permissions: permissions.filter((permission) => isAllowed(role, permission)),
      version,
      environment,
    }),
    listKeys: async ({ query, management }) => {
      const { limit, cursor } = query
      const rows = await management.apiKeys.list({
        afterId: decodeCursor('api-keys', cursor),
        limit: limit + 1,
      })
      return toPage('api-keys', rows, limit, ({ id }) => id)
    },
    createKey: async ({ body, management }) => management.apiKeys.create(body),
    revokeKey: async ({ params, management, afterCommit }) => {
      afterCommit(() => authenticator.forgetKey(params.id))
      return management.apiKeys.revoke(params.id)
    },
    endSessions: async ({ query, management, afterCommit }) => {
      afterCommit(() => authenticator.forgetSessions())
      return { ended: await management.sessions.endAll({ keyId: query.keyId }) }
    },
    audit: async ({ query, management }) => {
      const { limit, cursor, ...filter } = query
      const beforeId = decodeNumberCursor('audit', cursor)
      const { data, nextBeforeId } = await management.audit.page({ ...filter, beforeId, limit })
      return {
        data: data.map((entry) => ({ ...entry, id: String(entry.id) })),
        nextCursor: nextBeforeId === null ? null : encodeCursor('audit', String(nextBeforeId)),
      }
    },
  }
}
