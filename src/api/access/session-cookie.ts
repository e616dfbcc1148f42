import type { IncomingHttpHeaders } from 'node:http'

const name = 'holdfast_session'
/** What we give out: base64url. */
const valuePattern = /^[\w-]{1,128}$/

/** The session's token that a browser sent; null without one. */
export function readSessionCookie({ cookie = '' }: IncomingHttpHeaders): string | null {
  for (const pair of cookie.split(';')) {
    const [key = '', value = ''] = pair.trim().split('=', 2)
    if (key === name && valuePattern.test(value)) return value
  }
  return null
}

/** Scripts can't read it, and other sites can't make a browser send it. An age of 0 removes it. */
export function sessionCookie(token: string, maxAgeSeconds: number, isSecure: boolean): string {
  const secure = isSecure ? '; Secure' : ''
  return `${name}=${token}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`
}
