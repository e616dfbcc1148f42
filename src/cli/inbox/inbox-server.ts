import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { readBody } from './read-body.ts'

/** One delivery as stored by the inbox. */
export interface InboxEntry {
  readonly at: string
  readonly id: string | null
  readonly type: string | null
  readonly attempt: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly isTruncated: boolean
}

const maxEntries = 1000
const maxKeptCharacters = 8192
const maxBodyBytes = 64 * 1024 * 1024
const address = '127.0.0.1'

/** A receiver on loopback that accepts every request and shows the last thousand deliveries. */
export class InboxServer {
  readonly #server: Server
  readonly #entries: InboxEntry[] = []
  readonly #onDelivery: (entry: InboxEntry) => void

  constructor(onDelivery: (entry: InboxEntry) => void) {
    this.#onDelivery = onDelivery
    this.#server = createServer((request, response) => {
      this.#answer(request, response).catch(() => response.destroy())
    })
  }

  async start(): Promise<void> {
    this.#server.listen(0, address)
    await once(this.#server, 'listening')
  }

  get url(): string {
    return `http://${address}:${(this.#server.address() as AddressInfo).port}/`
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    // DNS rebinding: a web page can resolve its own name to 127.0.0.1, but can't change the Host header that it sends.
    if (!this.url.startsWith(`http://${request.headers.host}`)) {
      response.writeHead(403).end()
      return
    }
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify(this.#entries.toReversed(), null, 2))
      return
    }
    const body = await readBody(request, maxBodyBytes)
    if (body === null) {
      response.writeHead(413).end()
      return
    }
    this.#keep(toEntry(request, body))
    response.writeHead(204).end()
  }

  #keep(entry: InboxEntry): void {
    this.#entries.push(entry)
    if (this.#entries.length > maxEntries) this.#entries.shift()
    this.#onDelivery(entry)
  }
}

function toEntry(request: IncomingMessage, body: string): InboxEntry {
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(request.headers)) {
    if (value !== undefined) headers[name] = Array.isArray(value) ? value.join(', ') : value
  }
  return {
    at: new Date().toISOString(),
    id: headers['webhook-id'] ?? null,
    type: headers['holdfast-event-type'] ?? null,
    attempt: Number(headers['holdfast-attempt'] ?? 1),
    headers,
    body: body.slice(0, maxKeptCharacters),
    isTruncated: body.length > maxKeptCharacters,
  }
}
