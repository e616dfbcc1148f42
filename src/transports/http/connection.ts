import type net from 'node:net'
import { Client } from 'undici'
import type { OpenSocket, SocketTarget } from './open-socket.ts'

export interface ConnectionOptions {
  readonly origin: string
  readonly target: SocketTarget
  readonly openSocket: OpenSocket
  readonly keepAliveMs: number
  readonly tlsSessions: TlsSessionSlot
}

/** The latest TLS session of an origin, shared by its connections: resuming one spares half of the handshake. */
export interface TlsSessionSlot {
  session?: Buffer
}

/** How long it took to get a connection, in parts that happened. */
export interface ConnectTimings {
  dnsMs?: number
  connectMs?: number
  tlsMs?: number
}

type ConnectCallback = (...result: [null, net.Socket] | [Error, null]) => void

// Larger answers to a delivery are no headers but an attack or a mistake.
const maxResponseHeaderBytes = 32 * 1024

/**
 * One undici client, which is one socket at a time. A call has a connection to itself, so that its deadline can
 * destroy exactly the socket that it uses, even one that is still connecting, and so that we know what connecting cost it.
 */
export class Connection {
  readonly client: Client
  /** What the present call waited for; null when it found the socket open. */
  connectTimings: ConnectTimings | null = null
  readonly #options: ConnectionOptions
  #socket: net.Socket | null = null

  constructor(options: ConnectionOptions, onDisconnect: (connection: Connection) => void) {
    this.#options = options
    this.client = new Client(options.origin, {
      connect: (_options: unknown, callback: ConnectCallback) => this.#connect(callback),
      pipelining: 1,
      // Our one deadline covers connect, headers and body; undici's own timers would only cost.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: options.keepAliveMs,
      maxHeaderSize: maxResponseHeaderBytes,
    })
    this.client.on('disconnect', () => onDisconnect(this))
  }

  get isConnected(): boolean {
    return this.#socket?.readyState === 'open'
  }

  destroy(): void {
    // Also a socket that still connects, which undici would leave alone until it is connected.
    this.#socket?.destroy()
    void this.client.destroy()
  }

  /** Without a limit of its own: a connection is only opened for a call, whose deadline destroys it. */
  #connect(callback: ConnectCallback): void {
    const { target, tlsSessions } = this.#options
    const timings: ConnectTimings = {}
    this.connectTimings = timings
    let partStartedAtMs = performance.now()
    const measurePart = (): number => {
      const nowMs = performance.now()
      const partMs = nowMs - partStartedAtMs
      partStartedAtMs = nowMs
      return partMs
    }

    const isSecure = target.protocol === 'https:'
    const socket = this.#options.openSocket(
      isSecure ? { ...target, tls: { ...target.tls, ...tlsSessions } } : target,
    )
    this.#socket = socket
    let isReported = false
    const report: ConnectCallback = (...result) => {
      if (isReported) return
      isReported = true
      callback(...result)
    }
    // With several addresses the event comes once for each of them.
    socket.on('lookup', () => {
      timings.dnsMs ??= measurePart()
    })
    socket.once('connect', () => {
      timings.connectMs = measurePart()
      if (!isSecure) report(null, socket)
    })
    socket.once('secureConnect', () => {
      timings.tlsMs = measurePart()
      report(null, socket)
    })
    socket.on('session', (session: Buffer) => {
      tlsSessions.session = session
    })
    socket.on('error', (error) => report(error, null))
    socket.once('close', () => report(new ConnectClosedError(), null))
  }
}

class ConnectClosedError extends Error {
  readonly code = 'ECONNRESET'
}
