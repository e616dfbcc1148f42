import type { AttemptOutcome } from '../../core/delivery/attempt.ts'
import type { Egress } from '../../network/egress.ts'
import { type SocketTarget, socketTarget } from '../../network/open-socket.ts'
import { InFlightCalls } from '../in-flight-calls.ts'
import { abortedOutcome, closedOutcome } from '../interrupted.ts'
import type { Dispatch, TransportChannel } from '../transport.ts'
import { ConnectionPool } from './connection-pool.ts'
import type { HeaderList } from './header-list.ts'
import { HttpCall, type HttpCallContext } from './http-call.ts'
import type { HttpConfig } from './http-config.ts'
import { httpOutcome, isResponseKept } from './http-outcome.ts'
import type { OutgoingRequest } from './outgoing-request.ts'
import { baseHeaders, requestHeaders } from './request-headers.ts'
import { RequestPreparer } from './request-preparer.ts'
import { requireSecret } from './require-secret.ts'

export interface HttpChannelOptions {
  readonly endpoint: string
  readonly config: HttpConfig
  readonly maxConnections: number
  readonly keepAliveMs: number
  readonly userAgent: string
  readonly egress: Egress
  readonly tls: SocketTarget['tls'] | undefined
}

/** Sends the deliveries of one endpoint over its own connections. */
export class HttpChannel implements TransportChannel {
  readonly #options: HttpChannelOptions
  readonly #url: URL
  readonly #baseHeaders: HeaderList
  readonly #inFlight: InFlightCalls
  readonly #pool: ConnectionPool
  readonly #preparer: RequestPreparer
  readonly #callContext: HttpCallContext
  #isClosed = false

  constructor(options: HttpChannelOptions) {
    const { config, endpoint } = options
    this.#options = options
    this.#url = new URL(requireSecret(config.url, 'url'))
    this.#url.hash = ''
    this.#preparer = new RequestPreparer(options)
    this.#baseHeaders = baseHeaders(options.userAgent, this.#preparer.fixedHeaders)
    this.#inFlight = new InFlightCalls(config.timeoutMs)
    this.#pool = new ConnectionPool(
      {
        origin: this.#url.origin,
        target: { ...socketTarget(this.#url), ...(options.tls && { tls: options.tls }) },
        egress: options.egress,
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
      renew: config.auth.type === 'oauth2' ? (call) => this.#preparer.renew(call.request) : null,
      judge: (call, ending) => httpOutcome(call, ending, endpoint, config, this.#preparer),
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
      this.#prepareAndStart(call, dispatch)
    })
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#inFlight.whenIdle()
    await this.#preparer.close()
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

  #prepareAndStart(call: HttpCall, dispatch: Dispatch): void {
    try {
      const prepared = this.#preparer.prepare(call.request, dispatch)
      if (prepared === undefined) call.start()
      else call.startAfter(prepared)
    } catch (error) {
      call.notPrepared(error)
    }
  }
}

/** Appends the path below the endpoint's URL, and its query after the URL's (`requestPathProblem` has refused paths that lead elsewhere). */
function appendPath(base: URL, path: string): URL {
  const url = new URL(base)
  const [pathname = '', ...query] = path.split('?')
  const prefix = `${base.pathname.replace(/\/$/, '')}/`
  url.pathname = prefix + pathname.replace(/^\//, '')
  if (!url.pathname.startsWith(prefix)) throw new Error(`the path ${path} is outside the endpoint's URL`)
  if (query.length > 0) url.search = [base.search.slice(1), query.join('?')].filter(Boolean).join('&')
  return url
}
