import { setMaxListeners } from 'node:events'
import type { AttemptOutcome } from '../core/delivery/attempt.ts'
import { abortedOutcome, closedOutcome } from './interrupted.ts'
import type { Dispatch, TransportChannel } from './transport.ts'

/** How long an endpoint is held before loading its transport is tried again. */
const retryLoadAfterMs = 30_000

export interface LazyChannelOptions {
  readonly endpoint: string
  readonly transport: string
  /** Loads the transport, unless it is loaded, and opens the channel. */
  open(): Promise<TransportChannel>
}

/**
 * The channel of an endpoint whose transport isn't loaded yet. The first sends wait for the load, which takes milliseconds. If it fails, the endpoint
 * is held as if its receiver were throttling: no retry is used, the reason is shown with the attempt, and the next send loads it again.
 */
export class LazyChannel implements TransportChannel {
  readonly #options: LazyChannelOptions
  readonly #inFlight = new Set<Promise<AttemptOutcome>>()
  #opening: Promise<TransportChannel> | null = null
  #channel: TransportChannel | null = null
  #isClosed = false

  constructor(options: LazyChannelOptions) {
    this.#options = options
  }

  send(dispatch: Dispatch, signal: AbortSignal): AttemptOutcome | Promise<AttemptOutcome> {
    const { endpoint } = this.#options
    if (this.#isClosed) return closedOutcome(endpoint)
    if (this.#channel !== null) return this.#channel.send(dispatch, signal)
    if (signal.aborted) return abortedOutcome(endpoint, 0)
    const sending = this.#sendWhenOpen(dispatch, signal)
    this.#inFlight.add(sending)
    return sending.finally(() => this.#inFlight.delete(sending))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all(this.#inFlight)
    await this.#channel?.close()
  }

  /** Never rejects. */
  async #sendWhenOpen(dispatch: Dispatch, signal: AbortSignal): Promise<AttemptOutcome> {
    const startedAtMs = performance.now()
    try {
      const channel = await unlessAborted(this.#open(), signal)
      if (channel === null) return abortedOutcome(this.#options.endpoint, performance.now() - startedAtMs)
      return await channel.send(dispatch, signal)
    } catch (error) {
      return unavailable(this.#options.transport, error, performance.now() - startedAtMs)
    }
  }

  #open(): Promise<TransportChannel> {
    this.#opening ??= this.#options.open().then(
      (channel) => {
        this.#channel = channel
        return channel
      },
      (error: unknown) => {
        this.#opening = null
        throw error
      },
    )
    return this.#opening
  }
}

/** Resolves with null if the signal aborts first. */
async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T | null> {
  let onAbort: () => void = () => undefined
  const aborted = new Promise<null>((resolve) => {
    onAbort = () => resolve(null)
    // One listener for each send while the transport is being loaded: with many, Node's leak warning would be false.
    setMaxListeners(0, signal)
    signal.addEventListener('abort', onAbort, { once: true })
  })
  try {
    return await Promise.race([promise, aborted])
  } finally {
    signal.removeEventListener('abort', onAbort)
  }
}

function unavailable(transport: string, error: unknown, durationMs: number): AttemptOutcome {
  const reason = error instanceof Error ? error.message : String(error)
  return {
    class: 'throttled',
    isHealthFailure: false,
    durationMs,
    retryAfterMs: retryLoadAfterMs,
    error: {
      code: 'transport_unavailable',
      message: `Transport "${transport}" could not be loaded, so nothing was sent: ${reason}`,
    },
  }
}
