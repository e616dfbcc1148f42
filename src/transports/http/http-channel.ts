import type { AttemptOutcome } from '../../core/attempt.ts'
import { InFlightCalls } from '../in-flight-calls.ts'
import { abortedOutcome, closedOutcome } from '../interrupted.ts'
import type { Dispatch, TransportChannel } from '../transport.ts'
import { ConnectionPool } from './connection-pool.ts'
import type { HeaderList } from './header-list.ts'
import { HttpCall, type HttpCallContext } from './http-call.ts'
import type { HttpConfig } from './http-config.ts'
import { httpOutcome, isResponseKept } from './http-outcome.ts'
import type { OpenSocket, SocketTarget } from './open-socket.ts'
import type { OutgoingRequest, PrepareRequest } from './outgoing-request.ts'
import { baseHeaders, requestHeaders } from './request-headers.ts'

export interface HttpChannelOptions {
  readonly endpoint: string
  readonly config: HttpConfig
  readonly maxConnections: number
  readonly keepAliveMs: number
  readonly userAgent: string
  readonly target: Pick<SocketTarget, 'lookup' | 'tls'>
  readonly openSocket: OpenSocket
  readonly prepareRequest: PrepareRequest | undefined
}

/** Sends the deliveries of one endpoint over its own connections. */
export class HttpChannel implements TransportChannel {
  readonly #options: HttpChannelOptions
  readonly #url: URL
  readonly #baseHeaders: HeaderList
  readonly #inFlight: InFlightCalls
  readonly #pool: ConnectionPool
  readonly #callContext: HttpCallContext
  #isClosed = false

  constructor(options: HttpChannelOptions) {
    const { config, endpoint } = options
    this.#options = options
    this.#url = new URL(config.url)
    this.#url.hash = ''
    this.#baseHeaders = baseHeaders(options.userAgent, config.headers)
    this.#inFlight = new InFlightCalls(config.timeoutMs)
    this.#pool = new ConnectionPool(
      {
        origin: this.#url.origin,
        target: { ...socketTarget(this.#url), ...options.target },
        openSocket: options.openSocket,
        keepAliveMs: options.keepAliveMs,
        tlsSessions: {},
      },
      options.maxConnections,
    )
    this.#callContext = {
      inFlight: this.#inFlight,
      pool: this.#pool,
      maxResponseBytes: config.maxResponseBytes,
      isResponseKept: (call) => isResponseKept(call, config),
      judge: (call, ending) => httpOutcome(call, ending, endpoint, config),
    }
  }

  send(dispatch: Dispatch, signal: AbortSignal): Promise<AttemptOutcome> {
    const { endpoint } = this.#options
    if (this.#isClosed) return Promise.resolve(closedOutcome(endpoint))
    if (signal.aborted) return Promise.resolve(abortedOutcome(endpoint, 0))
    return new Promise((resolve) => {
      const call = new HttpCall(
        this.#callContext,
        this.#render(dispatch),
        dispatch.call?.isResponseWanted === true,
        performance.now(),
        resolve,
      )
      this.#inFlight.add(call, signal)
      this.#prepareAndStart(call, dispatch, signal)
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#inFlight.whenIdle()
    this.#inFlight.dispose()
    this.#pool.destroy()
  }

  #render(dispatch: Dispatch): OutgoingRequest {
    const { call } = dispatch
    return {
      method: call?.method ?? this.#options.config.method,
      url: call?.path === undefined ? this.#url : appendPath(this.#url, call.path),
      headers: requestHeaders(this.#baseHeaders, dispatch, Date.now()),
      body: dispatch.body,
    }
  }

  #prepareAndStart(call: HttpCall, dispatch: Dispatch, signal: AbortSignal): void {
    const { prepareRequest, endpoint, config } = this.#options
    if (prepareRequest === undefined) {
      call.start()
      return
    }
    try {
      const prepared = prepareRequest(call.request, { endpoint, config, dispatch, signal })
      if (prepared === undefined) call.start()
      else
        prepared.then(
          () => call.start(),
          (error: unknown) => call.notPrepared(error),
        )
    } catch (error) {
      call.notPrepared(error)
    }
  }
}

function socketTarget(url: URL): SocketTarget {
  const protocol = url.protocol === 'https:' ? 'https:' : 'http:'
  const hostname = url.hostname.startsWith('[') ? url.hostname.slice(1, -1) : url.hostname
  const port = url.port === '' ? (protocol === 'https:' ? 443 : 80) : Number(url.port)
  return { protocol, hostname, port }
}

/** Only the path and query can change: the origin is the endpoint's, whatever the caller writes. */
function appendPath(base: URL, path: string): URL {
  const url = new URL(base)
  const [pathname = '', ...query] = path.split('?')
  url.pathname = `${base.pathname.replace(/\/$/, '')}/${pathname.replace(/^\//, '')}`
  if (query.length > 0) url.search = query.join('?')
  return url
}
