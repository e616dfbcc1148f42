import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { BoundedBytes } from '../../core/bounded-bytes.ts'
import type { AttemptOutcome } from '../../core/delivery/attempt.ts'
import { InFlightCall, type InFlightCalls } from '../in-flight-calls.ts'
import type { ByteWatcher, Connection } from './connection.ts'
import type { ConnectionPool, ConnectionUser } from './connection-pool.ts'
import type { OutgoingRequest } from './outgoing-request.ts'

const maxInterimResponses = 32

/** How a call ended, before it is classified. */
export type HttpEnding =
  | { readonly kind: 'response' }
  | { readonly kind: 'network'; readonly error: unknown }
  | { readonly kind: 'not_prepared'; readonly error: unknown }
  | { readonly kind: 'deadline' }
  | { readonly kind: 'aborted' }

/** The functions of its channel that a call needs. */
export interface HttpCallContext {
  readonly inFlight: InFlightCalls
  readonly pool: ConnectionPool
  readonly maxResponseBytes: number
  /** Called when the status is known. */
  isResponseKept(call: HttpCall): boolean
  /** Gets new credentials for a call that was answered with 401; undefined if the answer must be accepted. Null: this endpoint has none to renew. */
  readonly renew: ((call: HttpCall) => Promise<void> | undefined) | null
  judge(call: HttpCall, ending: HttpEnding): AttemptOutcome
}

const unauthorized = 401

/**
 * One request, from the wait for a connection to the last byte of its response. undici calls the `on…` methods; the
 * first ending settles the call, and later ones have no effect.
 */
export class HttpCall
  extends InFlightCall
  implements ConnectionUser, ByteWatcher, Dispatcher.DispatchHandler
{
  readonly request: OutgoingRequest
  /** The caller reads the answer itself, whatever the capture policy stores. */
  readonly isResponseWanted: boolean
  status: number | undefined
  responseHeaders: IncomingHttpHeaders = {}
  firstByteAtMs: number | undefined
  connection: Connection | null = null
  isResponseTruncated = false
  /** The request is complete and can be sent. */
  isPrepared = false
  readonly #context: HttpCallContext
  readonly #resolve: (outcome: AttemptOutcome) => void
  #body: BoundedBytes | null = null
  #interimCount = 0
  #isSettled = false
  #isRenewed = false

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
    return this.#body?.bytes ?? Buffer.alloc(0)
  }

  get bodyBytes(): number {
    return this.#body?.receivedBytes ?? 0
  }

  start(): void {
    this.isPrepared = true
    if (!this.#isSettled) this.#context.pool.acquire(this)
  }

  /** Starts when `prepared` resolves, unless the call has ended before. */
  startAfter(prepared: Promise<void>): void {
    prepared.then(
      () => this.start(),
      (error: unknown) => this.notPrepared(error),
    )
  }

  notPrepared(error: unknown): void {
    this.#settle({ kind: 'not_prepared', error })
  }

  useConnection(connection: Connection): void {
    this.connection = connection
    connection.expectResponse(this)
    const { method, url, headers, body } = this.request
    const { absoluteForm } = connection
    const path = url.pathname + url.search
    connection.client.dispatch(
      {
        path: absoluteForm === null ? path : url.origin + path,
        method,
        // Only for the proxy, so it isn't added to the request that is stored.
        headers:
          absoluteForm?.authorization == null
            ? headers.flat
            : [...headers.flat, 'proxy-authorization', absoluteForm.authorization],
        body: method === 'GET' ? null : body,
      },
      this,
    )
  }

  /** With this method, undici treats the object as a handler of its current interface. */
  onRequestStart(): void {}

  onResponseStart(_controller: unknown, status: number, headers: IncomingHttpHeaders): void {
    if (status < 200) {
      this.#onInterim()
      return
    }
    this.firstByteAtMs = performance.now()
    this.status = status
    this.responseHeaders = headers
    this.#body = new BoundedBytes(this.#context.maxResponseBytes, this.#context.isResponseKept(this))
    this.connection?.watchBytes(this)
  }

  onResponseData(_controller: unknown, chunk: Buffer): void {
    if (this.#isSettled) return
    const body = this.#body
    if (body === null) return
    body.add(chunk)
    if (body.isTooLarge) {
      this.isResponseTruncated = true
      this.#settle({ kind: 'response' })
    } else if (body.isCrumbled) {
      this.#settle({
        kind: 'network',
        error: new CrumbsError(`the first ${body.chunkCount} hold ${body.receivedBytes} bytes`),
      })
    }
  }

  onTooManyBytes(): void {
    this.#settle({
      kind: 'network',
      error: new FloodError('its headers, or the framing of its body, are too long'),
    })
  }

  /** 1xx: the final response follows. More than a few are an attempt to keep us busy. */
  #onInterim(): void {
    this.#interimCount += 1
    if (this.#interimCount > maxInterimResponses) {
      this.#settle({
        kind: 'network',
        error: new FloodError(`more than ${maxInterimResponses} interim responses came before an answer`),
      })
    }
  }

  onResponseEnd(): void {
    if (this.#isSettled) return
    const { connection } = this
    if (this.status !== unauthorized || !this.#renew()) this.#finish({ kind: 'response' })
    if (connection !== null) this.#context.pool.release(connection)
  }

  /** Sends the request again with new credentials, within the same deadline. */
  #renew(): boolean {
    const { renew } = this.#context
    const renewed = renew === null || this.#isRenewed ? undefined : renew(this)
    if (renewed === undefined) return false
    this.#isRenewed = true
    this.isPrepared = false
    this.connection = null
    this.status = undefined
    this.responseHeaders = {}
    this.firstByteAtMs = undefined
    this.#body = null
    this.startAfter(renewed)
    return true
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

  /** After any ending but a complete response the connection can't be used again. */
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

class FloodError extends Error {
  readonly code = 'HPE_FLOOD'
}

class CrumbsError extends Error {
  readonly code = 'HOLDFAST_CRUMBS'
}
