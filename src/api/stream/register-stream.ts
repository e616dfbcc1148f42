import type { ServerResponse } from 'node:http'
import type { FastifyInstance } from 'fastify'
import { isAllowed, type Role } from '../../core/access/roles.ts'
import { HoldfastError } from '../../core/errors.ts'
import type { ChangeRow } from '../../storage/changes.ts'
import { ChangeFeed, type ChangeFeedOptions } from './change-feed.ts'
import { OpenStreams, type OpenStreamsOptions } from './open-streams.ts'
import { parsePosition, type StreamDetail, type StreamEvent, writeEvent } from './stream-event.ts'

/** Limit of unread bytes before a reader is disconnected: it can resume with its Last-Event-ID. */
const maxUnreadBytes = 256 * 1024
const pingMs = 15_000
const reconnectMs = 2000

/** `GET /v1/stream`: server-sent events about changes. A slow reader is disconnected. */
export function registerStream(app: FastifyInstance, options: ChangeFeedOptions & OpenStreamsOptions): void {
  const feed = new ChangeFeed(options)
  const open = new OpenStreams(options)

  app.addHook('preClose', async () => {
    open.endAll()
    await feed.stop()
  })

  // HEAD is not accepted: its response has no body, and would stay open as a reader for ever.
  app.get('/v1/stream', { exposeHeadRoute: false }, async (request, reply) => {
    const { caller } = request
    if (caller === null || !isAllowed(caller.role, 'read')) {
      throw new HoldfastError(
        'forbidden',
        'The stream needs an API key with the role viewer, operator or admin.',
      )
    }
    const detail = readDetail(request.query)
    const given = request.headers['last-event-id']
    const since = parsePosition(typeof given === 'string' ? given : undefined)
    const response = reply.raw
    open.add(response, caller)
    response.once('close', () => open.delete(response))
    // Collect missed events before the response starts.
    const early: StreamEvent[] = []
    let hasBegun = false
    const reader = (event: StreamEvent): void => {
      if (!mayRead(caller.role, event)) return
      if (hasBegun) write(response, writeEvent(event, detail))
      else early.push(event)
    }
    const unfollow = await feed.follow(reader, since).catch((error: unknown) => {
      open.delete(response)
      throw error
    })
    reply.hijack()
    // The key was revoked meanwhile, or the client has left, and "close" has been emitted already.
    if (response.writableEnded || response.destroyed) {
      open.delete(response)
      unfollow()
      return
    }
    const headers = Object.fromEntries(
      Object.entries(reply.getHeaders()).filter(([, value]) => value !== undefined),
    ) as Record<string, string>
    const ping = setInterval(() => write(response, ': still here\n\n'), pingMs).unref()
    response.once('close', () => {
      clearInterval(ping)
      unfollow()
    })
    request.raw.socket.setTimeout(0)
    response.writeHead(200, {
      ...headers,
      'content-type': 'text/event-stream',
      'x-accel-buffering': 'no',
      connection: 'close',
    })
    response.write(`retry: ${reconnectMs}\n\n`)
    hasBegun = true
    for (const event of early) write(response, writeEvent(event, detail))
  })
}

/** Keys and database roles are shown to administrators only. */
function mayRead(role: Role, { event, data }: StreamEvent): boolean {
  if (event !== 'change' || isAllowed(role, 'administer')) return true
  return !/^(?:api_key|role)\./.test((data as ChangeRow).action)
}

function readDetail(query: unknown): StreamDetail {
  const { detail = 'full' } = query as { readonly detail?: unknown }
  if (detail === 'full' || detail === 'brief') return detail
  throw new HoldfastError('invalid_request', 'The request is invalid. detail: must be full or brief', {
    problems: [{ path: 'detail', message: 'must be full or brief' }],
  })
}

function write(response: ServerResponse, text: string): void {
  if (response.destroyed || response.writableEnded) return
  if (response.writableLength > maxUnreadBytes) response.destroy()
  else response.write(text)
}
