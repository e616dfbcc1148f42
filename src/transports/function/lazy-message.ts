import { inspect } from 'node:util'
import type { Dispatch } from '../transport.ts'
import type { HandlerMessage } from './handler.ts'

/** Parses the body, formats ids and creates an AbortController only for handlers that use them: most need none of it at 100,000 calls a second. */
export class LazyMessage implements HandlerMessage {
  readonly #dispatch: Dispatch
  #payload: unknown = undefined
  #controller: AbortController | null = null
  #abortReason: Error | null = null

  constructor(dispatch: Dispatch) {
    this.#dispatch = dispatch
  }

  get id(): string {
    return this.#dispatch.messageId
  }

  get deliveryId(): string {
    return this.#dispatch.deliveryId
  }

  get type(): string | null {
    return this.#dispatch.eventType
  }

  get body(): string {
    return this.#dispatch.body
  }

  get headers(): Readonly<Record<string, string>> {
    return this.#dispatch.headers
  }

  get attempt(): number {
    return this.#dispatch.attempt
  }

  get correlationId(): string | null {
    return this.#dispatch.correlationId
  }

  get payload(): unknown {
    // JSON has no undefined, so undefined means "not parsed yet".
    if (this.#payload === undefined) this.#payload = JSON.parse(this.body)
    return this.#payload
  }

  get signal(): AbortSignal {
    if (this.#controller === null) {
      this.#controller = new AbortController()
      if (this.#abortReason !== null) this.#controller.abort(this.#abortReason)
    }
    return this.#controller.signal
  }

  abort(reason: Error): void {
    this.#abortReason = reason
    this.#controller?.abort(reason)
  }

  /** For handlers that log their message. */
  toJSON(): object {
    const { id, deliveryId, type, attempt, correlationId, headers, payload } = this
    return { id, deliveryId, type, attempt, correlationId, headers, payload }
  }

  [inspect.custom](): object {
    return this.toJSON()
  }
}
