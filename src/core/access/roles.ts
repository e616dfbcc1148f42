export const permissions = ['read', 'publish', 'call', 'operate', 'configure', 'administer'] as const
/** The permission that a call of the API needs. */
export type Permission = (typeof permissions)[number]

export const roles = ['viewer', 'publisher', 'caller', 'operator', 'admin'] as const
export type Role = (typeof roles)[number]

/**
 * Permissions by role. A publisher can't read: a key stored in one application must not reveal the events of others. Nor can it call an endpoint: the
 * caller chooses the path and gets the response, with the endpoint's credentials.
 */
const permissionsOf: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: ['read'],
  publisher: ['publish'],
  caller: ['publish', 'call'],
  operator: ['read', 'publish', 'call', 'operate'],
  admin: permissions,
}

export function isAllowed(role: Role, permission: Permission): boolean {
  return permissionsOf[role].includes(permission)
}

/** The roles that have a permission, the least powerful first. */
export function rolesWith(permission: Permission): readonly Role[] {
  return roles.filter((role) => isAllowed(role, permission))
}
