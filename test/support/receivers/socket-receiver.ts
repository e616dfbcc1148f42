import { once } from 'node:events'
import net, { type AddressInfo, type Socket } from 'node:net'

/** A bare TCP server on loopback, for receivers that don't even speak HTTP. */
export class SocketReceiver {
  readonly #server: net.Server
  readonly #sockets = new Set<Socket>()
  #closeWaiters: (() => void)[] = []

  private constructor(onSocket: (socket: Socket) => void) {
    this.#server = net.createServer((socket) => {
      this.#sockets.add(socket)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        this.#sockets.delete(socket)
        if (this.#sockets.size === 0) for (const resolve of this.#closeWaiters.splice(0)) resolve()
      })
      onSocket(socket)
    })
  }

  /** Without a behaviour it accepts and says nothing, for ever. */
  static async start(
    onSocket: (socket: Socket) => void = (socket) => socket.resume(),
  ): Promise<SocketReceiver> {
    const receiver = new SocketReceiver(onSocket)
    receiver.#server.listen(0, '127.0.0.1')
    await once(receiver.#server, 'listening')
    return receiver
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`
  }

  get openConnectionCount(): number {
    return this.#sockets.size
  }

  async whenConnected(): Promise<void> {
    if (this.#sockets.size === 0) await once(this.#server, 'connection')
  }

  async whenDisconnected(): Promise<void> {
    if (this.#sockets.size > 0) await new Promise<void>((resolve) => this.#closeWaiters.push(resolve))
  }

  async stop(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    for (const socket of this.#sockets) socket.destroy()
    await closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }
}
