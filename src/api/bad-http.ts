import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { HoldfastError } from '../core/errors.ts'
import { toProblem } from './problem.ts'
import { requestIdOf } from './request-id.ts'

/** The current call of each connection. */
const calls = new WeakMap<Socket, ServerResponse>()

/** Responds with a problem document where Node.js would refuse without a body. */
export function refuseBadHttp(app: FastifyInstance): void {
  app.addHook('onRequest', async (request, reply) => {
    calls.set(request.raw.socket, reply.raw)
    if (request.raw.httpVersion === '1.1' && request.headers.host === undefined) {
      throw new HoldfastError('bad_http', 'The Host header is missing.')
    }
  })
  app.server.on('checkExpectation', (request: IncomingMessage, response: ServerResponse) => {
    response.shouldKeepAlive = false
    const text = problemText(
      417,
      'Expectation Failed',
      'The Expect header can only be 100-continue.',
      request,
    )
    response.writeHead(417, { 'content-type': contentType, 'content-length': Buffer.byteLength(text) })
    response.end(text)
  })
}

/** Responds to a request that isn't HTTP, or whose headers are too large, and closes the connection. */
export function answerBadHttp(error: Error & { code?: string }, socket: Socket): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  const call = calls.get(socket)
  if (call !== undefined && call.req.complete && !call.writableFinished) {
    // A complete request is in progress: it gets its own response, not the error of the bytes after it.
    call.shouldKeepAlive = false
    call.once('finish', () => socket.destroySoon())
    return
  }
  const [status, reason, message] = describe(error.code)
  const text = problemText(status, reason, message, { headers: {} })
  socket.end(
    `HTTP/1.1 ${status} ${reason}\r\ncontent-type: ${contentType}\r\n` +
      `content-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`,
  )
}

const contentType = 'application/problem+json; charset=utf-8'

function describe(code: string | undefined): readonly [number, string, string] {
  if (code === 'HPE_HEADER_OVERFLOW') {
    return [431, 'Request Header Fields Too Large', 'The headers are too large.']
  }
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') {
    return [408, 'Request Timeout', 'The request did not arrive in time.']
  }
  return [400, 'Bad Request', 'This is not a valid HTTP request.']
}

function problemText(
  status: number,
  title: string,
  message: string,
  request: Pick<IncomingMessage, 'headers'>,
): string {
  const { body } = toProblem(new HoldfastError('bad_http', message), requestIdOf(request))
  return JSON.stringify({ ...body, status, title })
}
