import { timingSafeEqual } from 'node:crypto'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { HoldfastError } from '../../core/errors.ts'
import { isHealthCheck } from '../health.ts'
import { pageBase } from '../pages/page-base.ts'
import { isDashboardAsset } from '../pages/register-dashboard.ts'
import { wantsPage } from '../pages/wants-page.ts'
import type { Authenticator } from './authenticator.ts'
import type { Caller } from './caller.ts'
import { ForwardedAddress } from './forwarded-address.ts'
import { readSessionCookie, sessionCookie } from './session-cookie.ts'
import { sessionLifetimeSeconds } from './sessions.ts'

export interface AccessOptions {
  readonly authenticator: Authenticator
  readonly trustedProxies?: readonly string[]
}

const csrfHeader = 'x-csrf-token'
const safeMethods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'OPTIONS'])
/** Paths that need no key: the sign-in form and its script. */
const openPaths: ReadonlySet<string> = new Set([
  '/sign-in',
  '/assets/sign-in.js',
  '/assets/page.css',
  '/session',
])

const signInBody = z.strictObject({
  key: z.string().max(1024).optional(),
  token: z.string().max(256).optional(),
})

/** Identifies the caller before a body is read, and lets people sign in with a cookie. */
export function registerAccess(app: FastifyInstance, options: AccessOptions): void {
  const { authenticator, trustedProxies = [] } = options
  const forwarded = new ForwardedAddress(trustedProxies)
  const addressOf = (request: FastifyRequest): string =>
    forwarded.of(request.ip, request.headers['x-forwarded-for'])
  app.addHook('onRequest', async (request, reply) => {
    // Health checks need no database, even if the request has a key.
    if (isHealthCheck(request)) return
    request.caller = await findCaller(request, authenticator, addressOf)
    if (request.caller !== null || isOpen(request)) return
    // A browser without a session: show the sign-in page.
    if (wantsPage(request)) {
      await reply.redirect(wayIn(request.url))
      return
    }
    throw new HoldfastError(
      'unauthenticated',
      'This request needs an API key in the header "Authorization: Bearer hf_…". Create one with: holdfast api-keys create --local',
    )
  })

  app.post('/session', { bodyLimit: 4096 }, async (request, reply) => {
    const given = signInBody.safeParse(request.parsedBody?.value)
    if (!given.success || (given.data.key === undefined) === (given.data.token === undefined)) {
      throw new HoldfastError('invalid_request', 'Send either an API key or the token of a sign-in link.')
    }
    const { key, token } = given.data
    const session =
      key === undefined
        ? await authenticator.signInByLink(token ?? '', addressOf(request))
        : await authenticator.signIn(key, addressOf(request))
    setSession(request, reply, session, sessionLifetimeSeconds)
    return describeSession(await authenticator.bySession(session))
  })

  app.get('/session', async (request) => {
    if (request.caller === null)
      throw new HoldfastError(
        'unauthenticated',
        'You are not signed in. Sign in with an API key or a sign-in link.',
      )
    return describeSession(request.caller)
  })

  app.delete('/session', async (request, reply) => {
    const token = readSessionCookie(request.headers)
    if (token !== null) await authenticator.signOut(token)
    setSession(request, reply, '', 0)
    return reply.code(204).send()
  })
}

async function findCaller(
  request: FastifyRequest,
  authenticator: Authenticator,
  addressOf: (request: FastifyRequest) => string,
): Promise<Caller | null> {
  const { authorization } = request.headers
  if (authorization !== undefined) {
    const [, key] = /^Bearer +(\S+) *$/i.exec(authorization) ?? []
    if (key === undefined) {
      throw new HoldfastError('unauthenticated', 'The Authorization header must be "Bearer hf_…".')
    }
    return authenticator.byKey(key, addressOf(request))
  }
  const token = readSessionCookie(request.headers)
  if (token === null) return null
  const caller = await authenticator.bySession(token)
  if (caller !== null && !safeMethods.has(request.method)) checkCsrf(request, caller)
  return caller
}

/** A browser sends the cookie automatically; only our own pages can read the CSRF token that must come with it. */
function checkCsrf(request: FastifyRequest, { csrfToken }: Caller): void {
  const given = Buffer.from(String(request.headers[csrfHeader] ?? ''))
  const expected = Buffer.from(csrfToken ?? '')
  if (given.length === expected.length && expected.length > 0 && timingSafeEqual(given, expected)) return
  throw new HoldfastError(
    'csrf_failed',
    `A change authenticated by cookie needs the header ${csrfHeader} with the csrfToken of GET /session. Requests with an API key don't need it.`,
  )
}

function isOpen(request: FastifyRequest): boolean {
  const path = request.url.split('?', 1)[0] ?? ''
  return openPaths.has(path) || isDashboardAsset(path)
}

/** Redirects to the sign-in form and back, relative to the page: a proxy may serve us under an unknown prefix. */
function wayIn(url: string): string {
  const to = url === '/' ? '' : `?to=${encodeURIComponent(url.slice(1))}`
  return `${pageBase(url)}sign-in${to}`
}

function setSession(
  request: FastifyRequest,
  reply: FastifyReply,
  token: string,
  maxAgeSeconds: number,
): void {
  // A proxy that terminates TLS sends this header. If a client forges it, the cookie is only stricter than needed.
  const isSecure = request.protocol === 'https' || request.headers['x-forwarded-proto'] === 'https'
  reply.header('set-cookie', sessionCookie(token, maxAgeSeconds, isSecure))
}

function describeSession(caller: Caller | null): object {
  if (caller === null) throw new HoldfastError('unauthenticated', 'The session has ended. Sign in again.')
  const { name, role, csrfToken } = caller
  return { name, role, csrfToken }
}
