import type { Socket } from 'node:net'
import type tls from 'node:tls'
import type { ChannelModel } from 'amqplib'
import { connectTls } from '../network/connect-tls.ts'
import type { Egress } from '../network/egress.ts'
import type { BrokerAddress, BrokerHost } from './amqp-url.ts'
import type { Amqplib, RawConnection } from './amqplib.ts'
import { gatherWrites } from './gather-writes.ts'

/** A broker's address, and the credentials for it. */
export interface BrokerAccess {
  readonly address: BrokerAddress
  readonly username: string
  readonly password: string
  readonly tls: tls.ConnectionOptions
}

export interface BrokerConnectionOptions extends BrokerAccess {
  readonly amqplib: Amqplib
  readonly egress: Egress
  /** The connection's name in RabbitMQ's management pages. */
  readonly name: string
  /** Maximum number of open channels; 1 unless set. */
  readonly maxChannels?: number
  /** Called before anything is read from the socket. */
  readonly onSocket: (socket: Socket, connection: RawConnection) => void
  /** Called after the handshake. If it rejects, the connection is closed with that error. */
  readonly onOpen: (model: ChannelModel) => Promise<void>
  /** Called once, whatever the reason. */
  readonly onClosed: (error: unknown) => void
}

const heartbeatSeconds = 20
const frameBytes = 131_072
const closeWithinMs = 1_000
/** How long to wait for a connection to one host before the next one is tried. */
const nextHostAfterMs = 3_000

/** One connection to a broker, subject to the network rules. It never reconnects by itself: its owner decides when. */
export class BrokerConnection {
  readonly #options: BrokerConnectionOptions
  #socket: Socket | null = null
  #model: ChannelModel | null = null
  #isClosed = false

  constructor(options: BrokerConnectionOptions) {
    this.#options = options
  }

  get isClosed(): boolean {
    return this.#isClosed
  }

  /** Reports by `onOpen` or `onClosed`; never throws. */
  start(): void {
    const { hosts } = this.#options.address
    // A random first host, so that the connections of many nodes spread over a cluster.
    const first = Math.floor(Math.random() * hosts.length)
    this.#try(hosts[first] ?? hosts[0], [...hosts.slice(first + 1), ...hosts.slice(0, first)])
  }

  /** Tries the next host if no connection is made. If a host refuses the user or the virtual host, no other host is tried. */
  #try(host: BrokerHost, others: readonly BrokerHost[]): void {
    const { egress, address } = this.#options
    const [next, ...rest] = others
    let socket: Socket
    try {
      socket = egress.openTcp(host.hostname, host.port)
    } catch (error) {
      // Deferred, so that the caller has this object before `onClosed` is called.
      queueMicrotask(() => this.destroy(error))
      return
    }
    this.#socket = socket
    let isConnected = false
    const lose = (error: unknown): void => {
      clearTimeout(timer)
      if (this.#isClosed || this.#socket !== socket) return
      if (isConnected || next === undefined) return this.destroy(error)
      socket.destroy()
      this.#try(next, rest)
    }
    const timer =
      next === undefined
        ? undefined
        : setTimeout(() => isConnected || lose(new Error('no answer')), nextHostAfterMs)
    socket.on('error', lose)
    socket.on('close', () => lose(closedByPeer()))
    socket.once('connect', () => {
      clearTimeout(timer)
      isConnected = true
      if (address.isSecure) this.#secure(socket, host.hostname)
      else void this.#open(socket)
    })
  }

  /** Sends a close to the broker, and waits briefly for its answer. */
  async close(): Promise<void> {
    const model = this.#model
    if (model !== null && !this.#isClosed) {
      let timer: NodeJS.Timeout | undefined
      const limit = new Promise<void>((resolve) => {
        timer = setTimeout(resolve, closeWithinMs)
      })
      await Promise.race([model.close().catch(() => undefined), limit])
      clearTimeout(timer)
    }
    this.destroy(new Error('closed'))
  }

  destroy(error: unknown): void {
    if (this.#isClosed) return
    this.#isClosed = true
    // With an error: amqplib stops its heartbeats only on that event.
    this.#socket?.destroy(error instanceof Error ? error : new Error(String(error)))
    this.#options.onClosed(error)
  }

  #watch(socket: Socket): void {
    this.#socket = socket
    socket.on('error', (error) => this.destroy(error))
    socket.on('close', () => this.destroy(closedByPeer()))
  }

  #secure(raw: Socket, hostname: string): void {
    // An IP address can't be a TLS server name (RFC 6066).
    const servername = /^[\d.]+$|:/.test(hostname) ? {} : { servername: hostname, host: hostname }
    const socket = connectTls({ ...this.#options.tls, ...servername, host: hostname, socket: raw })
    this.#watch(socket)
    socket.once('secureConnect', () => void this.#open(socket))
  }

  /** Never rejects. */
  async #open(socket: Socket): Promise<void> {
    const { amqplib, onSocket, onOpen } = this.#options
    try {
      gatherWrites(socket)
      const connection = new amqplib.Connection(socket)
      onSocket(socket, connection)
      await new Promise<void>((resolve, reject) =>
        connection.open(this.#openFields(), (error) => (error == null ? resolve() : reject(toError(error)))),
      )
      const model = new amqplib.ChannelModel(connection)
      this.#model = model
      model.on('error', (error) => this.destroy(error))
      model.on('close', (error) => this.destroy(error ?? closedByPeer()))
      await onOpen(model)
    } catch (error) {
      this.destroy(error)
    }
  }

  #openFields() {
    const { username, password, name, address, maxChannels = 1 } = this.#options
    return {
      clientProperties: {
        product: 'Holdfast',
        connection_name: name,
        capabilities: {
          publisher_confirms: true,
          'basic.nack': true,
          consumer_cancel_notify: true,
          'connection.blocked': true,
          authentication_failure_close: true,
        },
      },
      mechanism: 'PLAIN',
      response: Buffer.from(`\0${username}\0${password}`),
      locale: 'en_US',
      channelMax: maxChannels,
      frameMax: frameBytes,
      heartbeat: heartbeatSeconds,
      maxFrameSize: frameBytes,
      virtualHost: address.vhost,
      capabilities: '',
      insist: 0,
    }
  }
}

/** An error reported or caused by a broker, with a stable code. */
export class BrokerError extends Error {
  readonly brokerCode: string

  constructor(brokerCode: string, message: string) {
    super(message)
    this.name = 'BrokerError'
    this.brokerCode = brokerCode
  }
}

export function closedByPeer(): Error {
  return Object.assign(new Error('the broker closed the connection'), { code: 'ECONNRESET' })
}

function toError(error: unknown): Error {
  return error instanceof Error ? error : new Error(String(error))
}
