import type { IncomingMessage } from 'node:http'
import { BoundedBytes } from '../core/bounded-bytes.ts'
import { HoldfastError } from '../core/errors.ts'

/** Requests whose body was not read to its end. */
const givenUp = new WeakSet<IncomingMessage>()

/** To be called when a request has been answered: the rest of a body that was given up isn't even received. */
export function endUnreadRequest(request: IncomingMessage): void {
  if (givenUp.has(request)) request.destroy()
}

/**
 * A request's body, in one buffer. Fastify keeps a list of the pieces as they come: sixteen callers who sent 400 kB in chunks of a byte each kept a
 * node busy for 30 s (measured).
 */
export async function readBody(request: IncomingMessage, maxBytes: number): Promise<Buffer> {
  const body = new BoundedBytes(maxBytes, true)
  return new Promise((resolve, reject) => {
    const giveUp = (error: HoldfastError): void => {
      request.off('data', onData)
      // Nothing more of it is read, and the connection ends with the answer.
      request.pause()
      givenUp.add(request)
      reject(error)
    }
    const onData = (chunk: Buffer): void => {
      body.add(chunk)
      if (body.isTooLarge) giveUp(tooLarge())
      else if (body.isCrumbled) giveUp(crumbled())
    }
    // Before any of it is sent.
    if (Number(request.headers['content-length'] ?? 0) > maxBytes) {
      giveUp(tooLarge())
      return
    }
    request.on('data', onData)
    request.once('end', () => resolve(body.bytes))
    request.once('error', reject)
  })
}

function tooLarge(): HoldfastError {
  return new HoldfastError('body_too_large', 'The body is larger than this operation accepts.')
}

function crumbled(): HoldfastError {
  return new HoldfastError(
    'bad_http',
    'The body arrives in chunks of a few bytes each. Send it whole, or in chunks of at least a few hundred bytes.',
  )
}
