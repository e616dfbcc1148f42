import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'

const processId = randomBytes(6).toString('hex')
let lastNumber = 0

/** The caller's request id if it is safe to log, otherwise a new one. */
export function requestIdOf(request: Pick<IncomingMessage, 'headers'>): string {
  const given = request.headers['x-request-id']
  if (typeof given === 'string' && /^[\w.:-]{1,64}$/.test(given)) return given
  lastNumber += 1
  return `req-${processId}-${lastNumber.toString(36)}`
}
