import type { Permission, Role } from '../../src/core/access/roles.ts'

export interface Session {
  readonly name: string
  readonly role: Role
  readonly permissions: readonly Permission[]
  readonly csrfToken: string | null
  readonly version: string
  readonly environment: string | null
  /** Where a trace is found; `{traceId}` is replaced. */
  readonly traceUrl: string | null
  /** Only `holdfast dev` does. */
  readonly isDemoOffered: boolean
}

/** Where the dashboard is served, with a slash at its end: a reverse proxy may have put a prefix before it. */
export const basePath = new URL('./', document.baseURI).pathname

/** Who is signed in: the server wrote it into the page. */
export const session = JSON.parse(document.querySelector('#session')?.textContent ?? 'null') as Session

/** What a role may not do isn't offered; the server refuses it, too. */
export function may(permission: Permission): boolean {
  return session.permissions.includes(permission)
}

/** To the form, and back to where somebody was. */
export function goToSignIn(): void {
  const to = location.pathname.slice(basePath.length) + location.search
  location.assign(`${basePath}sign-in${to === '' ? '' : `?to=${encodeURIComponent(to)}`}`)
}

export async function signOut(): Promise<void> {
  await fetch(`${basePath}session`, {
    method: 'DELETE',
    headers: { 'x-csrf-token': session.csrfToken ?? '' },
  })
  location.assign(`${basePath}sign-in`)
}
