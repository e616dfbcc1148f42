import type { ServerResponse } from 'node:http'
import type { Gate } from './gate.ts'
import type { ReceivedRequest } from './ledger.ts'

/** What a receiver does with a request after it has read and recorded it. */
export type Behaviour = (request: ReceivedRequest, response: ServerResponse) => void

export interface Answer {
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer
}

export function answer(status: number, { headers = {}, body = '' }: Answer = {}): Behaviour {
  return (_, response) => {
    response.writeHead(status, { 'content-length': Buffer.byteLength(body), ...headers })
    response.end(body)
  }
}

/** One behaviour a request, in order; the last one stays. A number is a status. */
export function script(...steps: (number | Behaviour)[]): Behaviour {
  const behaviours = steps.map((step) => (typeof step === 'number' ? answer(step) : step))
  let next = 0
  return (request, response) => {
    const behave = behaviours[Math.min(next, behaviours.length - 1)]
    next += 1
    behave?.(request, response)
  }
}

/** Chooses by the request, e.g. to fail one message and accept the others. */
export function choose(select: (request: ReceivedRequest) => number | Behaviour): Behaviour {
  return (request, response) => {
    const chosen = select(request)
    const behave = typeof chosen === 'number' ? answer(chosen) : chosen
    behave(request, response)
  }
}

/** Sends back everything that it was sent, as a careless error page does. */
export function echo(status: number): Behaviour {
  return (request, response) => {
    const { method, path, headers, body } = request
    response.writeHead(status, { 'x-authorization-was': String(headers['authorization']) })
    response.end(JSON.stringify({ method, path, headers, body }))
  }
}

/** Reads the request and never answers. */
export function hang(): Behaviour {
  return () => undefined
}

/** Answers only when the gate is open. */
export function gated(gate: Gate, behave: Behaviour): Behaviour {
  return (request, response) => {
    void gate.passed().then(() => behave(request, response))
  }
}

export function slow(delayMs: number, behave: Behaviour = answer(200)): Behaviour {
  return (request, response) => {
    setTimeout(() => behave(request, response), delayMs)
  }
}

/** Answers with a status at once and then sends one byte at a time, for ever. */
export function drip(everyMs = 10, status = 200): Behaviour {
  return (_, response) => {
    response.writeHead(status)
    response.write('.')
    const timer = setInterval(() => response.write('.'), everyMs)
    response.on('close', () => clearInterval(timer))
  }
}

/** Sends a body without end as fast as it is read. */
export function endlessBody(status = 200): Behaviour {
  return (_, response) => {
    const chunk = Buffer.alloc(64 * 1024, 'x')
    response.writeHead(status)
    const fill = (): void => {
      while (!response.destroyed && response.write(chunk));
    }
    response.on('drain', fill)
    fill()
  }
}

/** Sends headers and a part of the body, then a TCP reset. */
export function resetMidResponse(status = 200): Behaviour {
  return (_, response) => {
    response.writeHead(status, { 'content-length': 1_000 })
    response.write('half of the', () => response.socket?.resetAndDestroy())
  }
}

export function resetBeforeResponse(): Behaviour {
  return (_, response) => {
    response.socket?.resetAndDestroy()
  }
}

/** Writes bytes of its own instead of an HTTP response and closes. */
export function rawAnswer(bytes: string | Buffer): Behaviour {
  return (_, response) => {
    response.socket?.end(bytes)
  }
}

export function garbage(): Behaviour {
  return rawAnswer('\u0000\u0001 this is no HTTP at all \r\n\r\n\r\n')
}
