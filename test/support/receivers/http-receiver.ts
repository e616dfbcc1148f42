import { once } from 'node:events'
import http from 'node:http'
import https from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { answer, type Behaviour } from './behaviours.ts'
import { Ledger } from './ledger.ts'
import { selfSigned } from './self-signed.ts'

export interface HttpReceiverOptions {
  /** Default: 200 with an empty body. */
  readonly behaviour?: Behaviour
  /** Default: a free port. Give a fixed one to come back where a receiver stopped. */
  readonly port?: number
  /** Serves HTTPS with the certificate of `selfSigned`. */
  readonly isSecure?: boolean
  /** Instead of `selfSigned`'s. */
  readonly identity?: { readonly key: string; readonly certificate: string }
  /** Serves HTTPS, and only clients whose certificate this authority has signed. */
  readonly clientAuthority?: string
}

/**
 * A real HTTP server on loopback that records what it is sent and behaves as it is told.
 *
 * @example
 * await using receiver = await HttpReceiver.start({ behaviour: script(500, 500, 200) })
 * // … deliver to receiver.url …
 * await receiver.ledger.waitFor(3)
 */
export class HttpReceiver {
  readonly ledger = new Ledger()
  readonly #server: http.Server
  readonly #sockets = new Map<Socket, number>()
  readonly #isSecure: boolean
  #behave: Behaviour
  #connectionCount = 0
  #resumedSessionCount = 0
  #closeWaiters: (() => void)[] = []

  private constructor(options: HttpReceiverOptions) {
    this.#behave = options.behaviour ?? answer(200)
    this.#isSecure = options.isSecure ?? options.clientAuthority !== undefined
    const identity = options.identity ?? selfSigned
    this.#server = this.#isSecure
      ? https.createServer({
          key: identity.key,
          cert: identity.certificate,
          ...(options.clientAuthority !== undefined && { ca: options.clientAuthority, requestCert: true }),
        })
      : http.createServer()
    // Receivers decide in tests when a connection ends; the server's own idle limit would decide for them.
    this.#server.keepAliveTimeout = 0
    this.#server.requestTimeout = 0
    this.#server.on(this.#isSecure ? 'secureConnection' : 'connection', (socket: Socket) =>
      this.#onSocket(socket),
    )
    this.#server.on('request', (request, response) => void this.#onRequest(request, response))
  }

  static async start(options: HttpReceiverOptions = {}): Promise<HttpReceiver> {
    const receiver = new HttpReceiver(options)
    receiver.#server.listen(options.port ?? 0, '127.0.0.1')
    await once(receiver.#server, 'listening')
    return receiver
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `${this.#isSecure ? 'https' : 'http'}://127.0.0.1:${this.port}/hook`
  }

  /** Connections opened since the start, closed ones too. */
  get connectionCount(): number {
    return this.#connectionCount
  }

  /** TLS connections that resumed an earlier session. */
  get resumedSessionCount(): number {
    return this.#resumedSessionCount
  }

  get openConnectionCount(): number {
    return this.#sockets.size
  }

  behave(behaviour: Behaviour): void {
    this.#behave = behaviour
  }

  /** Resolves when no connection is open: the sender has let go of all its sockets. */
  async whenDisconnected(): Promise<void> {
    if (this.#sockets.size > 0) await new Promise<void>((resolve) => this.#closeWaiters.push(resolve))
  }

  /** Cuts every connection without a word, as a crash would. */
  cut(): void {
    for (const socket of this.#sockets.keys()) socket.resetAndDestroy()
  }

  /** Cuts what is open and stops listening. Safe to call twice. */
  async stop(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    for (const socket of this.#sockets.keys()) socket.destroy()
    await closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  #onSocket(socket: Socket): void {
    this.#connectionCount += 1
    if (socket instanceof TLSSocket && socket.isSessionReused()) this.#resumedSessionCount += 1
    this.#sockets.set(socket, this.#connectionCount)
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.#sockets.delete(socket)
      if (this.#sockets.size > 0) return
      for (const resolve of this.#closeWaiters.splice(0)) resolve()
    })
  }

  async #onRequest(request: http.IncomingMessage, response: http.ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    try {
      for await (const chunk of request) chunks.push(chunk as Buffer)
    } catch {
      // The sender went away before its request was whole: nothing was received.
      return
    }
    const { headers } = request
    const received = this.ledger.record({
      method: request.method ?? '',
      path: request.url ?? '',
      headers,
      body: Buffer.concat(chunks).toString('utf8'),
      webhookId: headers['webhook-id'] as string | undefined,
      deliveryId: headers['holdfast-delivery-id'] as string | undefined,
      attempt: Number(headers['holdfast-attempt']),
      connection: this.#sockets.get(request.socket) ?? 0,
    })
    this.#behave(received, response)
  }
}
