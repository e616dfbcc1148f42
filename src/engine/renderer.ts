import { checkPayload } from '../schemas/payload-schema.ts'
import type {
  CompiledTransform,
  Rendered,
  TransformError,
  TransformInput,
  TransformResult,
} from '../transforms/transform.ts'
import type { Delivery } from './delivery.ts'
import type { Shape, ShapeTable } from './shape-table.ts'

const maxCachedRenderings = 2000
const maxCachedBytes = 16 * 1024 * 1024

/** What to send for a delivery: null = its body as it is. */
export type Rendering = Rendered | null
export type RenderResult =
  | { readonly ok: true; readonly rendering: Rendering }
  | { readonly ok: false; readonly error: TransformError }

const missing: Shape = {
  kind: 'broken',
  error: { code: 'transform_missing', message: 'Its route could not be loaded.' },
}
const asItIs: RenderResult = { ok: true, rendering: null }
const routeDeleted: RenderResult = {
  ok: false,
  error: { code: 'route_deleted', message: 'Its route was deleted before it could be sent.' },
}
/** One of the routes changed between two requests of a batch that had to be cut. */
const noLongerAlike: RenderResult = {
  ok: false,
  error: { code: 'transform_mixed', message: 'The messages of this batch no longer share a transform.' },
}

/**
 * Gives each delivery the shape that its route asks for, from the stored original, at each attempt. Recipients of the same
 * transform share a rendering while it is at hand.
 */
export class Renderer {
  readonly #shapes: ShapeTable
  readonly #cache = new Map<string, TransformResult>()
  readonly #underWay = new Map<string, Promise<TransformResult>>()
  #cachedBytes = 0

  constructor(shapes: ShapeTable) {
    this.#shapes = shapes
  }

  render(delivery: Delivery, nowMs: number): RenderResult | Promise<RenderResult> {
    if (!this.#isAtHand(delivery)) return this.#load([delivery]).then(() => this.render(delivery, nowMs))
    const refused = this.#refusal(delivery)
    if (refused !== null) return refused
    const shape = this.#shapes.shapeOf(delivery.routeId) ?? missing
    if (shape.kind === 'raw') return asItIs
    if (shape.kind === 'deleted') return routeDeleted
    if (shape.kind === 'broken') return { ok: false, error: shape.error }
    // Not the row's number: the second way of a message to one endpoint has an id of its own, which renderings may show.
    const key = `${delivery.messageId} ${shape.key}`
    const cached = this.#cache.get(key)
    if (cached !== undefined) return toRenderResult(cached)
    const underWay = this.#underWay.get(key)
    if (underWay !== undefined) return underWay.then(toRenderResult)
    const result = guarded(() => shape.transform.render(toInput(delivery, nowMs)))
    if (!(result instanceof Promise)) return toRenderResult(this.#remember(key, shape.transform, result))
    return this.#share(key, shape.transform, result).then(toRenderResult)
  }

  /** Recipients that ask while it is being rendered get the same rendering. */
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

  /** Several deliveries of one shape in one envelope. */
  async renderBatch(deliveries: readonly Delivery[], nowMs: number): Promise<RenderResult> {
    const [first] = deliveries
    await this.#load(deliveries)
    const refused = deliveries.map((delivery) => this.#refusal(delivery)).find((refusal) => refusal !== null)
    if (refused !== undefined) return refused
    if (first !== undefined) {
      const key = this.batchKey(first)
      if (deliveries.some((delivery) => this.batchKey(delivery) !== key)) return noLongerAlike
    }
    const shape = this.#shapes.shapeOf(first?.routeId ?? null) ?? missing
    if (shape.kind === 'deleted') return routeDeleted
    if (shape.kind === 'broken') return { ok: false, error: shape.error }
    const inputs = deliveries.map((delivery) => toInput(delivery, nowMs))
    if (shape.kind === 'raw') {
      const body = `[${inputs.map((input) => input.body).join(',')}]`
      return { ok: true, rendering: { body, contentType: 'application/json', headers: {} } }
    }
    return toRenderResult(await guarded(() => shape.transform.renderBatch(inputs)))
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

  /** Needed again when a route changed after its deliveries were read. */
  async #load(deliveries: readonly Delivery[]): Promise<void> {
    const late = deliveries.filter((delivery) => !this.#isAtHand(delivery))
    if (late.length === 0) return
    await this.#shapes.load(
      new Set(late.map((delivery) => delivery.routeId).filter((id) => id !== null)),
      new Set(late.map((delivery) => delivery.eventType).filter((type) => type !== null)),
    )
  }

  /** Published from SQL, where nobody could hold it against its type's schema. */
  #refusal(delivery: Delivery): RenderResult | null {
    if (!delivery.needsCheck || delivery.eventType === null) return null
    const schema = this.#shapes.schemaOf(delivery.eventType)
    if (schema === null || schema === undefined) return null
    const complaint = complaintOf(schema, delivery)
    return complaint === null ? null : { ok: false, error: { code: 'schema', message: complaint } }
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

/** What is wrong with the payload, or with the schema: somebody may have written that by hand. */
function complaintOf(schema: object, delivery: Delivery): string | null {
  try {
    const checked = checkPayload(schema, JSON.parse(delivery.storedBody))
    if (checked.ok) return null
    const listed = checked.failures
      .map(({ path, message }) => `${path || '(payload)'}: ${message}`)
      .join('; ')
    return `The payload breaks the schema of "${delivery.eventType}". ${listed}`
  } catch (error) {
    return `The payload can't be checked against the schema of "${delivery.eventType}". ${String(error)}`
  }
}

function toRenderResult(result: TransformResult): RenderResult {
  return result.ok ? { ok: true, rendering: result.rendered } : result
}

/** A transform that throws has a bug; its delivery fails and the lane goes on. */
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
