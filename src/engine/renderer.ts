import type { UnsentOrigin } from '../core/delivery/attempt.ts'
import { deliveryChecks } from '../schemas/payload-checker.ts'
import type {
  CompiledTransform,
  Rendered,
  TransformError,
  TransformInput,
  TransformResult,
} from '../transforms/transform.ts'
import { TurnBudget } from '../transports/turn-budget.ts'
import type { Delivery } from './delivery.ts'
import type { Shape, ShapeTable } from './shape-table.ts'

/** How long messages are rendered before the event loop runs other work. */
const maxTurnMs = 8
const maxCachedRenderings = 2000
const maxCachedBytes = 16 * 1024 * 1024

/** The body to send for a delivery: null = its stored body. */
export type Rendering = Rendered | null
/** Why a delivery can't be rendered, and where the error came from. */
export type RenderError = TransformError & { readonly origin: UnsentOrigin }
export type RenderResult =
  | {
      readonly ok: true
      readonly rendering: Rendering
      readonly refused?: readonly RenderError[]
      /** The rendering contains this many deliveries of the batch, from the first; absent: all. */
      readonly taken?: number
    }
  | { readonly ok: false; readonly error: RenderError }

const missing: Shape = {
  kind: 'broken',
  error: { code: 'transform_missing', message: 'Its route could not be loaded.' },
}
const asItIs: RenderResult = { ok: true, rendering: null }
const routeDeleted: RenderResult = {
  ok: false,
  error: {
    code: 'route_deleted',
    message: 'Its route was deleted before it could be sent.',
    origin: 'route',
  },
}
/** One of the routes changed between two requests of a split batch. */
const noLongerAlike: RenderResult = {
  ok: false,
  error: fromTransform({
    code: 'transform_mixed',
    message: 'The messages of this batch no longer share a transform.',
  }),
}

/**
 * Renders each delivery with its route's transform, from the stored message, at each attempt. Deliveries with
 * the same transform share a rendering while it is in memory.
 */
export class Renderer {
  readonly #shapes: ShapeTable
  readonly #cache = new Map<string, TransformResult>()
  readonly #underWay = new Map<string, Promise<TransformResult>>()
  readonly #budget = new TurnBudget(maxTurnMs)
  #cachedBytes = 0

  constructor(shapes: ShapeTable) {
    this.#shapes = shapes
  }

  render(delivery: Delivery, nowMs: number): RenderResult | Promise<RenderResult> {
    if (!this.#isAtHand(delivery)) return this.#load([delivery]).then(() => this.render(delivery, nowMs))
    if (!this.#isChecked(delivery)) {
      return this.#refusal(delivery).then((refused) => refused ?? this.#shaped(delivery, nowMs))
    }
    return this.#shaped(delivery, nowMs)
  }

  #shaped(delivery: Delivery, nowMs: number): RenderResult | Promise<RenderResult> {
    const shape = this.#shapes.shapeOf(delivery.routeId)
    // The route changed while the payload was being validated, or while other work ran.
    if (shape === undefined) return this.#load([delivery]).then(() => this.#shaped(delivery, nowMs))
    if (shape.kind === 'raw') return asItIs
    // The largest rendering takes 50 ms (measured), and a lane may start dozens at once.
    if (this.#budget.isSpent) {
      return new Promise<void>((resolve) => this.#budget.later(resolve)).then(() =>
        this.#shaped(delivery, nowMs),
      )
    }
    if (shape.kind === 'deleted') return routeDeleted
    if (shape.kind === 'broken') return { ok: false, error: fromTransform(shape.error) }
    // Not the row's id: a second delivery of a message to the same endpoint has an id of its own, which renderings may show.
    const key = `${delivery.messageId} ${shape.key}`
    const cached = this.#cache.get(key)
    if (cached !== undefined) return toRenderResult(cached)
    const underWay = this.#underWay.get(key)
    if (underWay !== undefined) return underWay.then(toRenderResult)
    const result = guarded(() => shape.transform.render(toInput(delivery, nowMs)))
    if (!(result instanceof Promise)) return toRenderResult(this.#remember(key, shape.transform, result))
    return this.#share(key, shape.transform, result).then(toRenderResult)
  }

  /** Concurrent requests for the same rendering share one result. */
  #share(
    key: string,
    transform: CompiledTransform,
    result: Promise<TransformResult>,
  ): Promise<TransformResult> {
    const shared = result.then((late) => {
      this.#underWay.delete(key)
      return this.#remember(key, transform, late)
    })
    if (transform.isCacheable) this.#underWay.set(key, shared)
    return shared
  }

  /** Renders several deliveries into one envelope. */
  async renderBatch(
    deliveries: readonly Delivery[],
    nowMs: number,
    maxRecords?: number,
  ): Promise<RenderResult> {
    const [first] = deliveries
    for (const delivery of deliveries) {
      await this.#load([delivery])
      const refused = this.#isChecked(delivery) ? null : await this.#refusal(delivery)
      if (refused !== null) return refused
    }
    // Routes that changed while payloads were being validated are loaded again; nothing is awaited between this and their use.
    await this.#load(deliveries)
    if (first !== undefined) {
      const key = this.batchKey(first)
      if (deliveries.some((delivery) => this.batchKey(delivery) !== key)) return noLongerAlike
    }
    const shape = this.#shapes.shapeOf(first?.routeId ?? null) ?? missing
    if (shape.kind === 'deleted') return routeDeleted
    if (shape.kind === 'broken') return { ok: false, error: fromTransform(shape.error) }
    const inputs = deliveries.map((delivery) => toInput(delivery, nowMs))
    if (shape.kind === 'raw') {
      const body = `[${inputs.map((input) => input.body).join(',')}]`
      return { ok: true, rendering: { body, contentType: 'application/json', headers: {} } }
    }
    return toRenderResult(await guarded(() => shape.transform.renderBatch(inputs, maxRecords)))
  }

  /** Deliveries with the same key may share an envelope. */
  batchKey(delivery: Delivery): string {
    const shape = this.#shapes.shapeOf(delivery.routeId)
    if (shape === undefined) return `route ${delivery.routeId}`
    return shape.kind === 'transform' ? shape.key : shape.kind
  }

  #isAtHand(delivery: Delivery): boolean {
    if (this.#shapes.shapeOf(delivery.routeId) === undefined) return false
    return (
      !delivery.needsCheck ||
      delivery.eventType === null ||
      this.#shapes.schemaOf(delivery.eventType) !== undefined
    )
  }

  /** Loads routes again that changed after their deliveries were read. */
  async #load(deliveries: readonly Delivery[]): Promise<void> {
    const late = deliveries.filter((delivery) => !this.#isAtHand(delivery))
    if (late.length === 0) return
    await this.#shapes.load(
      new Set(late.map((delivery) => delivery.routeId).filter((id) => id !== null)),
      new Set(late.map((delivery) => delivery.eventType).filter((type) => type !== null)),
    )
  }

  #isChecked(delivery: Delivery): boolean {
    return !delivery.needsCheck || delivery.eventType === null || !this.#shapes.schemaOf(delivery.eventType)
  }

  /** Validates a payload that was published from SQL, which doesn't check it against its type's schema. */
  async #refusal(delivery: Delivery): Promise<RenderResult | null> {
    const schema = delivery.eventType === null ? null : this.#shapes.schemaOf(delivery.eventType)
    return schema ? schemaRefusal(schema, delivery) : null
  }

  #remember(key: string, transform: CompiledTransform, result: TransformResult): TransformResult {
    if (!transform.isCacheable || !result.ok) return result
    this.#cache.set(key, result)
    this.#cachedBytes += result.rendered.body.length
    while (this.#cache.size > maxCachedRenderings || this.#cachedBytes > maxCachedBytes) {
      const [oldest] = this.#cache
      if (oldest === undefined) break
      this.#cache.delete(oldest[0])
      if (oldest[1].ok) this.#cachedBytes -= oldest[1].rendered.body.length
    }
    return result
  }
}

/** What is wrong with the payload, or with a schema that may have been edited by hand. */
async function schemaRefusal(schema: object, delivery: Delivery): Promise<RenderResult | null> {
  const checked = await deliveryChecks.check([{ schema, body: delivery.storedBody }])
  if (checked.kind === 'ok') return null
  if (checked.kind === 'busy') {
    const message = 'Too many payloads are waiting to be checked against their schemas.'
    return { ok: false, error: { code: 'checks_busy', message, isRetryable: true, origin: 'schema' } }
  }
  const listed = checked.failures.map(({ path, message }) => `${path || '(payload)'}: ${message}`).join('; ')
  const verb = checked.code === 'schema_invalid' ? "can't be checked against" : 'breaks'
  const message = `The payload ${verb} the schema of "${delivery.eventType}". ${listed}`
  return { ok: false, error: { code: 'schema', message, origin: 'schema' } }
}

function toRenderResult(result: TransformResult): RenderResult {
  if (!result.ok) return { ok: false, error: fromTransform(result.error) }
  const { rendered, refused, taken } = result
  return {
    ok: true,
    rendering: rendered,
    ...(refused !== undefined && { refused: refused.map(fromTransform) }),
    ...(taken !== undefined && { taken }),
  }
}

function fromTransform(error: TransformError): RenderError {
  return { ...error, origin: 'transform' }
}

/** A transform that throws has a bug; its delivery fails and the lane continues. */
function guarded(
  work: () => TransformResult | Promise<TransformResult>,
): TransformResult | Promise<TransformResult> {
  try {
    const result = work()
    return result instanceof Promise ? result.catch(thrown) : result
  } catch (error) {
    return thrown(error)
  }
}

function thrown(error: unknown): TransformResult {
  const message = error instanceof Error ? error.message : String(error)
  return { ok: false, error: { code: 'transform_failed', message } }
}

function toInput(delivery: Delivery, nowMs: number): TransformInput {
  return {
    messageId: delivery.messageId,
    deliveryId: delivery.deliveryId,
    eventType: delivery.eventType,
    tenant: delivery.tenant,
    correlationId: delivery.correlationId,
    endpoint: delivery.endpoint,
    attempt: delivery.attempt,
    createdAtMs: delivery.createdAtMs,
    nowMs,
    headers: delivery.storedHeaders,
    metadata: delivery.metadata,
    body: delivery.storedBody,
  }
}
