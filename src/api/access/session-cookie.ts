import type { IncomingHttpHeaders } from 'node:http'

const name = 'holdfast_session'
/** The format of our tokens: base64url. */
const valuePattern = /^[\w-]{1,128}$/

/** Reads the session token that a browser sent; null without one. */
export function readSessionCookie({ cookie = '' }: IncomingHttpHeaders): string | null {
  for (const pair of cookie.split(';')) {
    const [key = '', value = ''] = pair.trim().split('=', 2)
    if (key === name && valuePattern.test(value)) return value
  }
  return null
}

/** Scripts can't read the cookie, and other sites can't make a browser send it. An age of 0 deletes it. */
export function sessionCookie(token: string, maxAgeSeconds: number, isSecure: boolean): string {
  const secure = isSecure ? '; Secure' : ''
  return `${name}=${token}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Strict${secure}`
}
