import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import type { AttemptOutcome } from '../../core/attempt.ts'
import { InFlightCall, type InFlightCalls } from '../in-flight-calls.ts'
import type { Connection } from './connection.ts'
import type { ConnectionPool, ConnectionUser } from './connection-pool.ts'
import type { OutgoingRequest } from './outgoing-request.ts'

/** What happened to a call, before anybody judges it. */
export type HttpEnding =
  | { readonly kind: 'response' }
  | { readonly kind: 'network'; readonly error: unknown }
  | { readonly kind: 'not_prepared'; readonly error: unknown }
  | { readonly kind: 'deadline' }
  | { readonly kind: 'aborted' }

/** What a call needs from its channel. */
export interface HttpCallContext {
  readonly inFlight: InFlightCalls
  readonly pool: ConnectionPool
  readonly maxResponseBytes: number
  /** Asked when the status is known. */
  isResponseKept(call: HttpCall): boolean
  judge(call: HttpCall, ending: HttpEnding): AttemptOutcome
}

/**
 * One request, from the wait for a connection to the last byte of its response. undici calls the `on…` methods;
 * whichever ending comes first settles the call, and all later ones find it settled.
 */
export class HttpCall extends InFlightCall implements ConnectionUser, Dispatcher.DispatchHandler {
  readonly request: OutgoingRequest
  /** The caller reads the answer itself, whatever the capture policy keeps. */
  readonly isResponseWanted: boolean
  status: number | undefined
  responseHeaders: IncomingHttpHeaders = {}
  firstByteAtMs: number | undefined
  connection: Connection | null = null
  isResponseTruncated = false
  readonly #context: HttpCallContext
  readonly #resolve: (outcome: AttemptOutcome) => void
  readonly #chunks: Buffer[] = []
  #receivedBytes = 0
  #isBodyKept = false
  #isSettled = false

  constructor(
    context: HttpCallContext,
    request: OutgoingRequest,
    isResponseWanted: boolean,
    startedAtMs: number,
    resolve: (outcome: AttemptOutcome) => void,
  ) {
    super(startedAtMs)
    this.#context = context
    this.request = request
    this.isResponseWanted = isResponseWanted
    this.#resolve = resolve
  }

  get responseBody(): Buffer {
    return this.#chunks.length === 1 && this.#chunks[0] !== undefined
      ? this.#chunks[0]
      : Buffer.concat(this.#chunks)
  }

  start(): void {
    if (!this.#isSettled) this.#context.pool.acquire(this)
  }

  notPrepared(error: unknown): void {
    this.#settle({ kind: 'not_prepared', error })
  }

  useConnection(connection: Connection): void {
    this.connection = connection
    const { method, url, headers, body } = this.request
    const path = url.pathname + url.search
    connection.client.dispatch(
      { path, method, headers: headers.flat, body: method === 'GET' ? null : body },
      this,
    )
  }

  /** undici takes an object for a handler of its present interface by this method. */
  onRequestStart(): void {}

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    // 1xx: the answer is still to come.
    if (status < 200) return
    this.firstByteAtMs = performance.now()
    this.status = status
    this.responseHeaders = headers
    this.#isBodyKept = this.#context.isResponseKept(this)
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#isSettled) return
    const { maxResponseBytes } = this.#context
    const roomBytes = maxResponseBytes - this.#receivedBytes
    this.#receivedBytes += chunk.length
    if (this.#isBodyKept && roomBytes > 0) this.#chunks.push(Buffer.from(chunk.subarray(0, roomBytes)))
    if (this.#receivedBytes > maxResponseBytes) {
      this.isResponseTruncated = true
      this.#settle({ kind: 'response' })
    }
  }

  onResponseEnd(): void {
    if (this.#isSettled) return
    this.#finish({ kind: 'response' })
    if (this.connection !== null) this.#context.pool.release(this.connection)
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#settle({ kind: 'network', error })
  }

  override onDeadline(): void {
    this.#settle({ kind: 'deadline' })
  }

  override onAbort(): void {
    this.#settle({ kind: 'aborted' })
  }

  /** Every ending but a whole response leaves a connection that nobody else may use. */
  #settle(ending: HttpEnding): void {
    if (this.#isSettled) return
    const { connection } = this
    this.#finish(ending)
    if (connection === null) this.#context.pool.leave(this)
    else this.#context.pool.discard(connection)
  }

  #finish(ending: HttpEnding): void {
    const outcome = this.#context.judge(this, ending)
    this.#isSettled = true
    this.#context.inFlight.remove(this)
    this.#resolve(outcome)
  }
}
