import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as wait } from 'node:timers/promises'
import { z } from 'zod'
import { readBody } from '../inbox/read-body.ts'

const address = '127.0.0.1'
const slowAnswerMs = 2000
/** Never two failures in a row, so that the circuit stays closed. */
const flakyFailsEvery = 3
const maxBodyBytes = 64 * 1024

const order = z.object({ total: z.number() })

/** The receivers of the demo's endpoints: one server on loopback, with a path for each kind. */
export class DemoReceivers {
  readonly #server: Server
  readonly #stopping = new AbortController()
  #flakyCalls = 0

  constructor() {
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy())
    })
  }

  async start(): Promise<void> {
    this.#stopping.signal.throwIfAborted()
    if (this.#server.listening) return
    this.#server.listen(0, address)
    await once(this.#server, 'listening')
  }

  get url(): string {
    return `http://${address}:${(this.#server.address() as AddressInfo).port}/`
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await readBody(request, maxBodyBytes)
    if (body === null) return void response.writeHead(413).end()
    switch (request.url ?? '') {
      case '/healthy':
        return void response.writeHead(204).end()
      case '/flaky':
        return this.#answerFlaky(body, response)
      case '/slow':
        await wait(slowAnswerMs, undefined, { signal: this.#stopping.signal })
        return void response.writeHead(200, { 'content-type': 'text/plain' }).end('at last\n')
      case '/dead':
        return void response.destroy()
      case '/gone':
        return void response.writeHead(410, { 'content-type': 'text/plain' }).end('nobody lives here\n')
      default:
        return void response.writeHead(404).end()
    }
  }

  #answerFlaky(body: string, response: ServerResponse): void {
    const json = { 'content-type': 'application/json' }
    if (isWithoutTotal(body)) {
      response.writeHead(422, json).end('{"error":"an order needs a total above 0"}')
      return
    }
    this.#flakyCalls += 1
    if (this.#flakyCalls % flakyFailsEvery === 0) {
      response.writeHead(500, json).end('{"error":"it happens"}')
      return
    }
    response.writeHead(204).end()
  }
}

function isWithoutTotal(body: string): boolean {
  try {
    return order.parse(JSON.parse(body)).total === 0
  } catch {
    return true
  }
}
