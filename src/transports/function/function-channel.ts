import type { AttemptOutcome } from '../../core/delivery/attempt.ts'
import { InFlightCall, InFlightCalls } from '../in-flight-calls.ts'
import { abortedOutcome, closedOutcome } from '../interrupted.ts'
import type { Dispatch, TransportChannel } from '../transport.ts'
import type { Handler } from './handler.ts'
import { handlerFailureOutcome, handlerMissingOutcome, handlerTimeoutOutcome } from './handler-outcome.ts'
import { LazyMessage } from './lazy-message.ts'

export interface FunctionChannelOptions {
  readonly endpoint: string
  readonly handlerName: string
  readonly timeoutMs: number
  readonly handlers: ReadonlyMap<string, Handler>
}

/**
 * Calls one handler in this process.
 *
 * This is the hot path of the in-process benchmark. A handler that returns a plain value costs only its message and its outcome.
 * A handler that returns a promise is also tracked as in flight, because only it can exceed its deadline or be aborted.
 */
export class FunctionChannel implements TransportChannel {
  readonly #options: FunctionChannelOptions
  readonly #inFlight: InFlightCalls
  #isClosed = false

  constructor(options: FunctionChannelOptions) {
    this.#options = options
    this.#inFlight = new InFlightCalls(options.timeoutMs)
  }

  send(dispatch: Dispatch, signal: AbortSignal): AttemptOutcome | Promise<AttemptOutcome> {
    const { endpoint, handlerName, handlers } = this.#options
    if (this.#isClosed) return closedOutcome(endpoint)
    if (signal.aborted) return abortedOutcome(endpoint, 0)
    // Looked up at each call, so that a handler registered later is found without opening the channel again.
    const handler = handlers.get(handlerName)
    if (handler === undefined) return handlerMissingOutcome(handlerName)

    const startedAtMs = performance.now()
    const message = new LazyMessage(dispatch)
    let result: unknown
    try {
      result = handler(message)
      if (isThenable(result)) return this.#follow(result, message, startedAtMs, signal)
    } catch (error) {
      return handlerFailureOutcome(handlerName, error, performance.now() - startedAtMs)
    }
    return successOutcome(startedAtMs)
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await this.#inFlight.whenIdle()
    this.#inFlight.dispose()
  }

  #follow(
    result: PromiseLike<unknown>,
    message: LazyMessage,
    startedAtMs: number,
    signal: AbortSignal,
  ): Promise<AttemptOutcome> {
    return new Promise((resolve) => {
      const call = new HandlerCall(this.#options, this.#inFlight, message, startedAtMs, resolve)
      this.#inFlight.add(call, signal)
      // A handler may abort its own signal before it returns its promise.
      if (signal.aborted) call.onAbort()
      // A foreign thenable may throw from its `then`; a native promise passes through unchanged.
      Promise.resolve(result).then(
        () => call.settle(successOutcome(startedAtMs)),
        (error: unknown) => call.fail(error),
      )
    })
  }
}

class HandlerCall extends InFlightCall {
  readonly #options: FunctionChannelOptions
  readonly #inFlight: InFlightCalls
  readonly #message: LazyMessage
  readonly #resolve: (outcome: AttemptOutcome) => void

  constructor(
    options: FunctionChannelOptions,
    inFlight: InFlightCalls,
    message: LazyMessage,
    startedAtMs: number,
    resolve: (outcome: AttemptOutcome) => void,
  ) {
    super(startedAtMs)
    this.#options = options
    this.#inFlight = inFlight
    this.#message = message
    this.#resolve = resolve
  }

  settle(outcome: AttemptOutcome): void {
    if (this.#inFlight.remove(this)) this.#resolve(outcome)
  }

  fail(error: unknown): void {
    this.settle(handlerFailureOutcome(this.#options.handlerName, error, performance.now() - this.startedAtMs))
  }

  override onDeadline(): void {
    const { handlerName, timeoutMs } = this.#options
    const outcome = handlerTimeoutOutcome(handlerName, timeoutMs, performance.now() - this.startedAtMs)
    this.settle(outcome)
    this.#message.abort(new DOMException(outcome.error?.message, 'TimeoutError'))
  }

  override onAbort(): void {
    const outcome = abortedOutcome(this.#options.endpoint, performance.now() - this.startedAtMs)
    this.settle(outcome)
    this.#message.abort(new DOMException(outcome.error?.message, 'AbortError'))
  }
}

function successOutcome(startedAtMs: number): AttemptOutcome {
  return { class: 'success', isHealthFailure: false, durationMs: performance.now() - startedAtMs }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function'
}
