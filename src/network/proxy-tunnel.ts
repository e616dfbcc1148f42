import type net from 'node:net'
import { Duplex } from 'node:stream'
import { connectTls } from './connect-tls.ts'
import type { ForwardProxy } from './forward-proxy.ts'
import { openSocket, type SocketTarget, tlsOptions } from './open-socket.ts'
import { ProxyFailure } from './proxy-failure.ts'

const maxAnswerBytes = 16 * 1024
const headEnd = Buffer.from('\r\n\r\n')

/** A TLS connection to `target` through the proxy's CONNECT. */
export function openTunnel(proxy: ForwardProxy, target: SocketTarget): net.Socket {
  const tunnel = new ProxyTunnel(proxy, target)
  const socket = connectTls({ ...tlsOptions(target), socket: tunnel })
  tunnel.on('error', (error) => socket.destroy(error))
  socket.once('close', () => tunnel.destroy())
  return socket
}

/**
 * The byte stream between this process and the target, inside the proxy's connection. Data written before the proxy has accepted
 * is buffered, so that a TLS socket can be created on top at once.
 */
class ProxyTunnel extends Duplex {
  readonly #socket: net.Socket
  readonly #authority: string
  #answer: Buffer | null = Buffer.alloc(0)
  #onOpen: (() => void) | null = null

  constructor(proxy: ForwardProxy, target: SocketTarget) {
    super()
    const { hostname, port } = target
    this.#authority = `${hostname.includes(':') ? `[${hostname}]` : hostname}:${port}`
    this.#socket = openSocket(proxy.target)
    const authorization =
      proxy.authorization === null ? '' : `proxy-authorization: ${proxy.authorization}\r\n`
    this.#socket.once(proxy.target.protocol === 'https:' ? 'secureConnect' : 'connect', () =>
      this.#socket.write(
        `CONNECT ${this.#authority} HTTP/1.1\r\nhost: ${this.#authority}\r\n${authorization}\r\n`,
      ),
    )
    this.#socket.on('data', (chunk: Buffer) => this.#onData(chunk))
    this.#socket.on('end', () => {
      if (this.#answer === null) this.push(null)
      else this.destroy(this.#failure('closed the connection before it answered'))
    })
    this.#socket.on('error', (error) =>
      this.destroy(this.#answer === null ? error : this.#failure(`failed: ${error.message}`, null, error)),
    )
    this.#socket.once('close', () => this.destroy())
  }

  override _read(): void {
    if (this.#answer === null) this.#socket.resume()
  }

  override _write(chunk: Buffer, _encoding: BufferEncoding, callback: (error?: Error | null) => void): void {
    const write = (): void => {
      this.#socket.write(chunk, callback)
    }
    if (this.#answer === null) write()
    else this.#onOpen = write
  }

  override _final(callback: (error?: Error | null) => void): void {
    this.#socket.end(callback)
  }

  override _destroy(error: Error | null, callback: (error?: Error | null) => void): void {
    this.#socket.destroy()
    callback(error)
  }

  #onData(chunk: Buffer): void {
    if (this.#answer === null) {
      if (!this.push(chunk)) this.#socket.pause()
      return
    }
    const answer = Buffer.concat([this.#answer, chunk])
    const end = answer.indexOf(headEnd)
    if (end === -1) {
      this.#answer = answer
      if (answer.length > maxAnswerBytes)
        this.destroy(this.#failure('answered with headers that exceed the limit'))
      return
    }
    const status = /^HTTP\/1\.[01] (\d{3})(?: |\r)/.exec(answer.toString('latin1', 0, end + 2))?.[1]
    if (status === undefined || !status.startsWith('2')) {
      const said = status === undefined ? 'with something that is no HTTP' : `with status ${status}`
      this.destroy(this.#failure(`answered ${said}`, status === undefined ? null : Number(status)))
      return
    }
    this.#answer = null
    const rest = answer.subarray(end + headEnd.length)
    if (rest.length > 0) this.push(rest)
    this.#onOpen?.()
    this.#onOpen = null
  }

  #failure(what: string, status: number | null = null, cause?: unknown): ProxyFailure {
    return new ProxyFailure(`the proxy, asked for ${this.#authority}, ${what}`, status, cause)
  }
}
