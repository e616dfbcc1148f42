import type { AttemptOutcome } from '../core/delivery/attempt.ts'
import type { Dispatch, TransportChannel } from '../transports/transport.ts'
import type { DatabaseClock } from './clock.ts'
import type { Delivery } from './delivery.ts'
import type { RenderError, Renderer, RenderResult } from './renderer.ts'

/** Statuses that may be one message's fault: the batch is cut in halves until it stands alone. */
const cuttingStatuses: ReadonlySet<number> = new Set([400, 409, 413, 422])

/** What came of several deliveries that were to share a request. */
export interface BatchOutcome {
  /** Of the request; null when none was made, or when the batch must be cut: one of them can't go, or wasn't taken. */
  readonly outcome: AttemptOutcome | null
  /** Those that were left out of it, with what came of each. */
  readonly refused: ReadonlyMap<Delivery, AttemptOutcome>
}

const nobody: ReadonlyMap<Delivery, AttemptOutcome> = new Map()

/** Makes one attempt: gives the message its shape, then sends it. Whatever happens is an outcome. */
export class AttemptSender {
  readonly #renderer: Renderer
  readonly #databaseClock: DatabaseClock

  constructor(renderer: Renderer, databaseClock: DatabaseClock) {
    this.#renderer = renderer
    this.#databaseClock = databaseClock
  }

  send(
    delivery: Delivery,
    channel: TransportChannel,
    signal: AbortSignal,
  ): AttemptOutcome | Promise<AttemptOutcome> {
    // Sent straight to an endpoint: nothing to render, and the hot path.
    if (delivery.routeId === null && !delivery.needsCheck) return channel.send(delivery, signal)
    const result = this.#renderer.render(delivery, this.#databaseClock.nowMs())
    return result instanceof Promise
      ? result.then((late) => sendRendered(delivery, late, channel, signal), notNow)
      : sendRendered(delivery, result, channel, signal)
  }

  /** Deliveries whose renderings may share an envelope. */
  groupByShape(deliveries: readonly Delivery[]): Delivery[][] {
    const groups = new Map<string, Delivery[]>()
    for (const delivery of deliveries) {
      const key = this.#renderer.batchKey(delivery)
      const group = groups.get(key)
      if (group === undefined) groups.set(key, [delivery])
      else group.push(delivery)
    }
    return [...groups.values()]
  }

  /** Sends several deliveries of one shape in one request, of at most so many bytes where there is a bound. */
  async sendBatch(
    deliveries: readonly Delivery[],
    channel: TransportChannel,
    signal: AbortSignal,
    maxBytes: number | null,
    traceparent: string | null = null,
  ): Promise<BatchOutcome> {
    const startedAtMs = performance.now()
    let result: RenderResult
    try {
      result = await this.#renderer.renderBatch(deliveries, this.#databaseClock.nowMs())
    } catch (error) {
      return { outcome: notNow(error), refused: nobody }
    }
    if (!result.ok) {
      // What may work later is no single message's fault, and cutting the batch would only ask again.
      const isForAll = deliveries.length === 1 || result.error.isRetryable === true
      return { outcome: isForAll ? refusedOutcome(result.error) : null, refused: nobody }
    }
    const refused = refusedOf(deliveries, result)
    const sent = refused.size === 0 ? deliveries : deliveries.filter((delivery) => !refused.has(delivery))
    if (sent.length === 0 || (sent.length > 1 && isTooLong(result, maxBytes)))
      return { outcome: null, refused }
    const outcome = await channel.send(toBatchDispatch(sent, result, traceparent), signal)
    if (sent.length > 1 && mustBeCut(outcome)) return { outcome: null, refused }
    return { outcome: { ...outcome, durationMs: performance.now() - startedAtMs }, refused }
  }
}

/**
 * Whether the answer may be about one of the messages alone. A status that the endpoint calls a success though it isn't one ("I have it already")
 * says so of one message: of a batch it may be true of some, and the others would never have been stored.
 */
function mustBeCut({ class: word, statusCode = 0 }: AttemptOutcome): boolean {
  if (cuttingStatuses.has(statusCode)) return true
  return word === 'success' && statusCode >= 300
}

function isTooLong(result: RenderResult & { readonly ok: true }, maxBytes: number | null): boolean {
  return maxBytes !== null && Buffer.byteLength(result.rendering?.body ?? '') > maxBytes
}

function refusedOf(
  deliveries: readonly Delivery[],
  result: RenderResult & { readonly ok: true },
): ReadonlyMap<Delivery, AttemptOutcome> {
  if (result.refused === undefined || result.refused.length === 0) return nobody
  const refused = new Map<Delivery, AttemptOutcome>()
  for (const error of result.refused) {
    const delivery = deliveries[error.index ?? -1]
    if (delivery !== undefined) refused.set(delivery, refusedOutcome(error))
  }
  return refused
}

function sendRendered(
  delivery: Delivery,
  result: RenderResult,
  channel: TransportChannel,
  signal: AbortSignal,
): AttemptOutcome | Promise<AttemptOutcome> {
  if (!result.ok) return refusedOutcome(result.error)
  delivery.rendering = result.rendering
  return channel.send(delivery, signal)
}

/** The database is away, so that the transform can't be looked up: nothing was tried, and the delivery goes back to its place. */
function notNow(error: unknown): AttemptOutcome {
  const message = error instanceof Error ? error.message : String(error)
  return { class: 'retryable', isHealthFailure: false, durationMs: 0, error: { code: 'aborted', message } }
}

/** A message that can't be given its shape will not get it by trying again, unless what shapes it was out of order. */
function refusedOutcome(error: RenderError): AttemptOutcome {
  const { code, message, isRetryable, isSkipped, origin } = error
  return {
    class: isRetryable === true ? 'retryable' : 'permanent',
    isHealthFailure: false,
    durationMs: 0,
    error: { code, message },
    origin,
    ...(isSkipped === true && { isSkipped }),
  }
}

function toBatchDispatch(
  deliveries: readonly Delivery[],
  result: RenderResult & { readonly ok: true },
  traceparent: string | null,
): Dispatch {
  const [first] = deliveries
  if (first === undefined) throw new Error('a batch has at least one delivery')
  const headers = {
    ...result.rendering?.headers,
    'content-type': result.rendering?.contentType ?? 'application/json',
    ...(traceparent !== null && { traceparent }),
  }
  return {
    deliveryId: first.deliveryId,
    // Receivers of batches dedupe on the ids inside; the batch itself may be composed anew when it is tried again.
    messageId: deliveries.length === 1 ? first.messageId : `${first.messageId}+${deliveries.length - 1}`,
    endpoint: first.endpoint,
    eventType: deliveries.length === 1 ? first.eventType : null,
    attempt: first.attempt,
    correlationId: deliveries.length === 1 ? first.correlationId : null,
    headers,
    body: result.rendering?.body ?? first.storedBody,
  }
}
