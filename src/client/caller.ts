import { z } from 'zod'
import type { Operation } from '../contract/operation.ts'
import { HoldfastError } from '../core/errors.ts'
import type { PlainInput } from './call-input.ts'
import { encodeBody, encodeUrl } from './encode-request.ts'
import { pause } from './pause.ts'
import { type RemoteError, readProblem } from './remote-error.ts'
import { type Failure, parseRetryAfterMs, retryWaitMs } from './retry-wait.ts'

export interface CallerOptions {
  /** Without a trailing slash. */
  readonly baseUrl: string
  readonly apiKey: string
  readonly fetch: typeof globalThis.fetch
  readonly parseJson: (text: string) => unknown
  readonly timeoutMs: number
  readonly maxRetries: number
}

interface PreparedRequest {
  readonly url: string
  readonly body: string | undefined
  readonly headers: Record<string, string>
}

interface Failed {
  readonly failure: Failure
  readonly error: HoldfastError
}

/** Makes calls, retries them if that is safe and useful, and turns responses into results or errors. */
export class Caller {
  readonly #options: CallerOptions

  constructor(options: CallerOptions) {
    this.#options = options
  }

  async call(operation: Operation, input: PlainInput): Promise<unknown> {
    const request = this.#prepare(operation, input)
    for (let repeat = 0; ; repeat++) {
      input.signal?.throwIfAborted()
      const outcome = await this.#try(operation, request, input)
      if (!('failure' in outcome)) return outcome.result
      const waitMs = retryWaitMs(operation, outcome.failure, repeat, Math.random())
      if (waitMs === null || repeat >= this.#options.maxRetries) throw outcome.error
      await pause(waitMs, input.signal)
    }
  }

  /** Opens a response that doesn't end. Not retried: the reader knows its position. */
  async open(path: string, headers: Record<string, string>, signal?: AbortSignal): Promise<Response> {
    const url = `${this.#options.baseUrl}${path}`
    let response: Response
    try {
      response = await this.#options.fetch(url, {
        headers: { ...this.#headers(), ...headers },
        redirect: 'manual',
        signal: signal ?? null,
      })
    } catch (error) {
      signal?.throwIfAborted()
      throw this.#unreachable(error)
    }
    if (response.status === 200) return response
    throw this.#refusal(response.status, await response.text())
  }

  #headers(): Record<string, string> {
    return { authorization: `Bearer ${this.#options.apiKey}`, accept: 'application/json' }
  }

  #prepare(operation: Operation, input: PlainInput): PreparedRequest {
    const body = encodeBody(input.body)
    // One key for all attempts, so that they are one write.
    const key = operation.method === 'GET' ? undefined : (input.idempotencyKey ?? crypto.randomUUID())
    return {
      url: encodeUrl(this.#options.baseUrl, operation, input),
      body,
      headers: {
        ...this.#headers(),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(key !== undefined && { 'idempotency-key': key }),
      },
    }
  }

  async #try(
    operation: Operation,
    request: PreparedRequest,
    input: PlainInput,
  ): Promise<Failed | { readonly result: unknown }> {
    const deadline = AbortSignal.timeout(input.timeoutMs ?? this.#options.timeoutMs)
    const signal = input.signal === undefined ? deadline : AbortSignal.any([input.signal, deadline])
    let response: Response
    let text: string
    try {
      response = await this.#options.fetch(request.url, {
        method: operation.method,
        headers: request.headers,
        // A redirect would send the API key to another address.
        redirect: 'manual',
        signal,
        ...(request.body !== undefined && { body: request.body }),
      })
      text = await response.text()
    } catch (error) {
      input.signal?.throwIfAborted()
      return { failure: { kind: 'network' }, error: this.#unreachable(error) }
    }
    if (response.status === operation.status) return { result: this.#decode(operation, text) }
    const error = this.#refusal(response.status, text)
    const retryAfterMs = parseRetryAfterMs(response.headers.get('retry-after'), Date.now())
    if (retryAfterMs !== null) Object.assign(error.details, { retryAfterMs })
    return {
      failure: { kind: 'answer', status: response.status, code: error.code, retryAfterMs },
      error,
    }
  }

  #decode(operation: Operation, text: string): unknown {
    if (operation.status === 204) return undefined
    try {
      return z.decode(operation.result, this.#options.parseJson(text))
    } catch (error) {
      throw this.#strange(`to ${operation.id} with a response that is not in its contract`, error)
    }
  }

  #refusal(status: number, text: string): RemoteError | HoldfastError {
    return readProblem(status, text) ?? this.#strange(`with status ${status} and no problem of ours`)
  }

  #unreachable(cause: unknown): HoldfastError {
    const { baseUrl } = this.#options
    const why = reasonOf(cause)
    return new HoldfastError(
      'api_unavailable',
      `The API at ${baseUrl} can't be reached: ${why}. Check the URL, and that a node runs there.`,
      { url: baseUrl },
      cause,
    )
  }

  #strange(what: string, cause?: unknown): HoldfastError {
    const { baseUrl } = this.#options
    return new HoldfastError(
      'invalid_answer',
      `${baseUrl} answered ${what}. Check that the URL is the one of Holdfast's API, and that client and server have the same version.`,
      { url: baseUrl },
      cause,
    )
  }
}

/** OpenSSL's words for a server that answers in plain text, in several lines. */
const noTls = /wrong version number|packet length too long/i

/** `fetch` throws "fetch failed", with the reason as the cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  if (error.name === 'TimeoutError') return 'no response arrived in time'
  const { cause } = error as { cause?: unknown }
  if (cause instanceof AggregateError) return reasonOf(cause.errors[0])
  const { message } = cause instanceof Error ? cause : error
  return noTls.test(message) ? "it doesn't answer with TLS; write http:// if it has none" : message
}
