import { createRequire } from 'node:module'
import type net from 'node:net'
import { TLSSocket } from 'node:tls'
import type * as undici from 'undici'
import type { AbsoluteForm, Egress } from '../../network/egress.ts'
import type { SocketTarget } from '../../network/open-socket.ts'
import { ProxyFailure } from '../../network/proxy-failure.ts'
import { readInTurns } from './reading-turn.ts'
import { skipContinue } from './skip-continue.ts'

export interface ConnectionOptions {
  readonly origin: string
  readonly target: SocketTarget
  readonly egress: Egress
  readonly keepAliveMs: number
  readonly tlsSessions: TlsSessionSlot
}

/** The latest TLS session of an origin, shared by its connections: resuming it saves half of the handshake. */
export interface TlsSessionSlot {
  session?: Buffer
}

/** Called when a response exceeds its limit of bytes. */
export interface ByteWatcher {
  /** How many of the bytes read so far belong to the body. */
  readonly bodyBytes: number
  onTooManyBytes(): void
}

/** The duration of each step of connecting; steps that didn't happen are absent. */
export interface ConnectTimings {
  dnsMs?: number
  connectMs?: number
  tlsMs?: number
}

type ConnectCallback = (...result: [null, net.Socket] | [Error, null]) => void

/**
 * Never reached: `watchBytes` ends a call long before. With undici's own limit, the parser continues with the bytes it has read, and raises an error
 * for each further header: 65 ms for one response (measured), with which a single receiver could stop a node.
 */
const maxHeaderSize = 64 * 1024 * 1024

/**
 * Limit of a response's bytes besides its body: headers, interim responses, or chunk sizes and trailers; for the latter the body's length is added.
 */
const maxFramingBytes = 32 * 1024

/** Loaded with the first connection: a process that only publishes saves 20 MiB. */
const load = createRequire(import.meta.url)

/**
 * One undici client, which has one socket at a time. A call doesn't share its connection, so that its deadline can destroy exactly its own socket,
 * even one that is still connecting, and so that its connect time is known.
 */
export class Connection {
  readonly client: undici.Client
  /** How long the current call waited to connect; null if the socket was open. */
  connectTimings: ConnectTimings | null = null
  /** Set if requests are sent to a proxy with the whole URL in their first line. */
  readonly absoluteForm: AbsoluteForm | null
  readonly #options: ConnectionOptions
  #socket: net.Socket | null = null
  #watcher: ByteWatcher | null = null
  #parsedBytes = 0
  #isAtBeginning = true

  constructor(options: ConnectionOptions, onDisconnect: (connection: Connection) => void) {
    this.#options = options
    this.absoluteForm = options.target.protocol === 'http:' ? options.egress.absoluteForm : null
    const { Client } = load('undici') as typeof undici
    this.client = new Client(options.origin, {
      connect: (_options: unknown, callback: ConnectCallback) => this.#connect(callback),
      pipelining: 1,
      // Our deadline covers connect, headers and body; undici's own timers would only cost time.
      headersTimeout: 0,
      bodyTimeout: 0,
      keepAliveTimeout: options.keepAliveMs,
      maxHeaderSize,
    })
    this.client.on('disconnect', () => onDisconnect(this))
  }

  get isConnected(): boolean {
    return this.#socket?.readyState === 'open'
  }

  /** A request is about to be sent: the next bytes begin its response. */
  expectResponse(watcher: ByteWatcher): void {
    this.#isAtBeginning = true
    this.watchBytes(watcher)
  }

  /**
   * Limits the bytes parsed from now on besides the body, which has its own limit. The parser doesn't report headers, chunk extensions, trailers or a
   * status line while they arrive, and an endless one would keep the whole node busy until the deadline.
   */
  watchBytes(watcher: ByteWatcher): void {
    this.#parsedBytes = 0
    this.#watcher = watcher
  }

  destroy(): void {
    // Also destroys a connecting socket, which undici would leave alone until it is connected.
    this.#socket?.destroy()
    void this.client.destroy()
  }

  /** All bytes passed on before have been parsed by now, so the watcher knows how many belong to the body. */
  #mayRead(byteCount: number): boolean {
    const watcher = this.#watcher
    if (watcher === null) return true
    const framingBytes = this.#parsedBytes - watcher.bodyBytes
    if (framingBytes > maxFramingBytes + watcher.bodyBytes) {
      watcher.onTooManyBytes()
      return false
    }
    this.#parsedBytes += byteCount
    return true
  }

  #filter(slice: Buffer): Buffer {
    if (!this.#isAtBeginning) return slice
    const rest = skipContinue(slice)
    this.#isAtBeginning = rest.length === 0
    return rest
  }

  /** Has no time limit: a connection is opened only for a call, whose deadline destroys it. */
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
    const socket = this.#options.egress.openSocket(
      isSecure ? { ...target, tls: { ...target.tls, ...tlsSessions } } : target,
    )
    this.#socket = socket
    let isReported = false
    const report: ConnectCallback = (...result) => {
      if (isReported) return
      isReported = true
      if (result[0] === null) {
        readInTurns(socket, {
          mayRead: (byteCount) => this.#mayRead(byteCount),
          filter: (slice) => this.#filter(slice),
        })
      }
      callback(...result)
    }
    // With several addresses the event is emitted once for each.
    socket.on('lookup', () => {
      timings.dnsMs ??= measurePart()
    })
    socket.once('connect', () => {
      timings.connectMs = measurePart()
      // A proxy may use TLS too, whatever the target uses.
      if (!(socket instanceof TLSSocket)) report(null, socket)
    })
    socket.once('secureConnect', () => {
      timings.tlsMs = measurePart()
      report(null, socket)
    })
    socket.on('session', (session: Buffer) => {
      tlsSessions.session = session
    })
    socket.on('error', (error) => report(this.absoluteForm === null ? error : proxyFailure(error), null))
    socket.once('close', () => report(new ConnectClosedError(), null))
  }
}

function proxyFailure(error: Error): ProxyFailure {
  return new ProxyFailure(`the proxy can't be reached: ${error.message}`, null, error)
}

class ConnectClosedError extends Error {
  readonly code = 'ECONNRESET'
}
