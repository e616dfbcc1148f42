import type { AttemptOutcome } from '../core/delivery/attempt.ts'
import type { BatchPolicy } from '../core/endpoints/setting-fields.ts'
import type { Dispatch, TransportChannel } from '../transports/transport.ts'
import type { DatabaseClock } from './clock.ts'
import type { Delivery } from './delivery.ts'
import type { RenderError, Renderer, Rendering, RenderResult } from './renderer.ts'

/** Statuses that a single message may cause: the batch is split in halves until that message is sent alone. */
const cuttingStatuses: ReadonlySet<number> = new Set([400, 409, 413, 422])

/** The outcome of several deliveries that share a request. */
export interface BatchOutcome {
  /** Outcome of the request; null if none was made, or if the batch must be split because one delivery can't be sent or wasn't accepted. */
  readonly outcome: AttemptOutcome | null
  /** Deliveries that were left out of the request, with the outcome of each. */
  readonly refused: ReadonlyMap<Delivery, AttemptOutcome>
  /** Deliveries for which the request had no room: they are sent in another one. */
  readonly left: readonly Delivery[]
}

const nobody: ReadonlyMap<Delivery, AttemptOutcome> = new Map()

/** Makes one attempt: renders the message, then sends it. Every failure is an outcome, never an exception. */
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
    // Sent to an endpoint directly, without a route: nothing to render. This is the hot path.
    if (delivery.routeId === null && !delivery.needsCheck) return channel.send(delivery, signal)
    const result = this.#renderer.render(delivery, this.#databaseClock.nowMs())
    return result instanceof Promise
      ? result.then((late) => sendRendered(delivery, late, channel, signal), notNow)
      : sendRendered(delivery, result, channel, signal)
  }

  /** Groups deliveries whose renderings may share an envelope. */
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

  /** Sends several deliveries of one shape in one request, within a batch's limits of records and bytes. */
  async sendBatch(
    given: readonly Delivery[],
    channel: TransportChannel,
    signal: AbortSignal,
    batch: BatchPolicy | null,
    traceparent: string | null = null,
  ): Promise<BatchOutcome> {
    const startedAtMs = performance.now()
    let result: RenderResult
    try {
      result = await this.#renderer.renderBatch(given, this.#databaseClock.nowMs(), batch?.maxMessages)
    } catch (error) {
      return { outcome: notNow(error), refused: nobody, left: [] }
    }
    if (!result.ok) {
      // A retryable error isn't caused by a single message; splitting the batch would only repeat the request.
      const isForAll = given.length === 1 || result.error.isRetryable === true
      return { outcome: isForAll ? refusedOutcome(result.error) : null, refused: nobody, left: [] }
    }
    const { taken = given.length } = result
    const deliveries = taken === given.length ? given : given.slice(0, taken)
    const left = given.slice(taken)
    const refused = refusedOf(given, result)
    const sent = refused.size === 0 ? deliveries : deliveries.filter((delivery) => !refused.has(delivery))
    if (sent.length === 0 || (sent.length > 1 && isTooLong(result, batch?.maxBytes ?? null)))
      return { outcome: null, refused, left }
    const dispatch = toBatchDispatch(sent, result, traceparent)
    let outcome = await channel.send(dispatch, signal)
    if (sent.length > 1 && mustBeCut(outcome)) return { outcome: null, refused, left }
    if (mustBeCut(outcome)) {
      outcome = await sendParts(result.rendering, outcome, (body) =>
        channel.send({ ...dispatch, body }, signal),
      )
    }
    return { outcome: { ...outcome, durationMs: performance.now() - startedAtMs }, refused, left }
  }
}

/**
 * Whether a single message may have caused the answer. If the endpoint's settings count an error status as a success ("already stored"), the status
 * may apply to some messages of a batch only, and the others would never be stored.
 */
function mustBeCut(outcome: AttemptOutcome): boolean {
  const { statusCode = 0 } = outcome
  return cuttingStatuses.has(statusCode) || isKnownOnly(outcome)
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
  const { rendering } = result
  delivery.rendering = rendering
  const outcome = channel.send(delivery, signal)
  if (rendering?.parts === undefined) return outcome
  return Promise.resolve(outcome).then((answer) => {
    if (!mustBeCut(answer)) return answer
    return sendParts(rendering, answer, (body) => {
      delivery.rendering = { ...rendering, body }
      return channel.send(delivery, signal)
    })
  })
}

/** Whether the endpoint's settings count this error status as a success: the receiver stored nothing, because it has the message already. */
function isKnownOnly({ class: word, statusCode = 0 }: AttemptOutcome): boolean {
  return word === 'success' && statusCode >= 300
}

/**
 * Sends each record of a message separately. A receiver that has or refuses one record of a message stores none of them,
 * as with a batch. A refused record doesn't stop the others, and makes the message fail in the end; any other failure
 * ends the attempt, and a retry starts again with all records.
 */
async function sendParts(
  rendering: Rendering,
  whole: AttemptOutcome,
  send: (body: string) => AttemptOutcome | Promise<AttemptOutcome>,
): Promise<AttemptOutcome> {
  const bodies = rendering?.parts?.()
  if (bodies === undefined) return whole
  let refused: AttemptOutcome | null = null
  let last = whole
  for (const [index, body] of bodies.entries()) {
    last = await send(body)
    if (last.class === 'success') continue
    const named = ofRecord(last, `Record ${index + 1} of ${bodies.length}`)
    if (!cuttingStatuses.has(last.statusCode ?? 0)) return named
    refused ??= named
  }
  return refused ?? last
}

function ofRecord(outcome: AttemptOutcome, record: string): AttemptOutcome {
  const { error } = outcome
  return error === undefined
    ? outcome
    : { ...outcome, error: { ...error, message: `${record}: ${error.message}` } }
}

/** The database is unavailable, so the transform can't be read: nothing was sent, and the delivery returns to its lane. */
function notNow(error: unknown): AttemptOutcome {
  const message = error instanceof Error ? error.message : String(error)
  return { class: 'retryable', isHealthFailure: false, durationMs: 0, error: { code: 'aborted', message } }
}

/** A message that can't be rendered will fail again at the next attempt, unless the transform itself was unavailable. */
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
    // Receivers of batches dedupe on the ids inside; a retry may combine other deliveries in a batch.
    messageId: deliveries.length === 1 ? first.messageId : `${first.messageId}+${deliveries.length - 1}`,
    endpoint: first.endpoint,
    eventType: deliveries.length === 1 ? first.eventType : null,
    attempt: first.attempt,
    correlationId: deliveries.length === 1 ? first.correlationId : null,
    headers,
    body: result.rendering?.body ?? first.storedBody,
  }
}
