import { hash } from 'node:crypto'
import { BoundedCache } from '../core/bounded-cache.ts'
import type { Keyring } from '../secrets/keyring.ts'
import { openTransform } from '../secrets/transform-secrets.ts'
import type { Database } from '../storage/database.ts'
import { readEventTypes } from '../storage/event-types.ts'
import { type RouteShape, readChangedShapes, readRouteShapes } from '../storage/routes.ts'
import { nothingRead } from '../storage/watermark.ts'
import type { TransformRegistry } from '../transforms/registry.ts'
import type { CompiledTransform, TransformError } from '../transforms/transform.ts'

/**
 * What a route does with its messages: nothing, a compiled transform, or an error that every attempt gets until it is fixed. Messages of a
 * deleted route can't be rendered: they must not be sent without its transform.
 */
export type Shape =
  | { readonly kind: 'raw' }
  | { readonly kind: 'deleted' }
  | { readonly kind: 'transform'; readonly key: string; readonly transform: CompiledTransform }
  | { readonly kind: 'broken'; readonly error: TransformError }

export interface ShapeTableOptions {
  readonly database: Database
  readonly transforms: TransformRegistry
  readonly keyring: Keyring | null
}

const raw: Shape = { kind: 'raw' }
const deleted: Shape = { kind: 'deleted' }
const maxShapes = 10_000
/** Of the schemas in memory. A type without a schema counts as 1 kB: publishers choose the names of types. */
const maxSchemaCharacters = 32 * 1024 * 1024
const charactersPerType = 1024

/** Routes' transforms and event types' schemas, compiled once and kept until they change. */
export class ShapeTable {
  readonly #options: ShapeTableOptions
  readonly #shapes = new Map<number, Shape>()
  /** By the digest of the transform's JSON text, which may contain secrets: routes with the same transform share one entry, and so its renderings. */
  readonly #transforms = new Map<string, Shape>()
  readonly #schemas = new BoundedCache<object | null>(maxSchemaCharacters)
  #watermark = nothingRead
  /** Counts removals, so that a result read before a change isn't kept after it. */
  #changes = 0

  constructor(options: ShapeTableOptions) {
    this.#options = options
  }

  /** Undefined if the route isn't loaded: it is new, or has just changed. */
  shapeOf(routeId: number | null): Shape | undefined {
    return routeId === null ? raw : this.#shapes.get(routeId)
  }

  /** Null if the type has no schema (any more); undefined while it isn't loaded. */
  schemaOf(eventType: string): object | null | undefined {
    return this.#schemas.get(eventType)
  }

  /** The position up to which changes have been read. */
  get watermark(): string {
    return this.#watermark
  }

  /** A deleted event type leaves no row that shows the deletion: while schemas are in use, nodes check for it. */
  get checksSchemas(): boolean {
    for (const [, schema] of this.#schemas.entries()) if (schema !== null) return true
    return false
  }

  /** Loads these routes and types before their deliveries are dispatched. */
  async load(routeIds: ReadonlySet<number>, eventTypes: ReadonlySet<string>): Promise<void> {
    const newRoutes = [...routeIds].filter((id) => !this.#shapes.has(id))
    if (newRoutes.length > 0) {
      if (this.#shapes.size > maxShapes) this.#shapes.clear()
      const routes = await this.#readUnchanged(() => readRouteShapes(this.#options.database, newRoutes))
      for (const id of newRoutes) this.#shapes.set(id, deleted)
      for (const route of routes) this.#shapes.set(route.id, this.#shapeOfRoute(route))
    }
    const newTypes = [...eventTypes].filter((name) => !this.#schemas.has(name))
    if (newTypes.length > 0) {
      const types = await this.#readUnchanged(() => readEventTypes(this.#options.database, newTypes))
      const schemas = new Map(types.map(({ name, schema }) => [name, schema]))
      for (const name of newTypes) {
        const schema = schemas.get(name) ?? null
        const length = schema === null ? 0 : JSON.stringify(schema).length
        this.#schemas.set(name, schema, charactersPerType + length)
      }
    }
  }

  /** Repeats the read if something changed meanwhile: the result may be older than the change. */
  async #readUnchanged<Row>(read: () => Promise<Row>): Promise<Row> {
    for (;;) {
      const changes = this.#changes
      const rows = await read()
      if (changes === this.#changes) return rows
    }
  }

  /** Forgets changed entries; the next delivery that needs one loads it. */
  async readChanges(): Promise<void> {
    const checking = [...this.#schemas.entries()]
      .filter(([, schema]) => schema !== null)
      .map(([name]) => name)
    const changed = await readChangedShapes(this.#options.database, this.#watermark, checking)
    this.#watermark = changed.watermark
    for (const id of changed.routeIds) this.forgetRoute(id)
    for (const name of changed.eventTypes) this.#schemas.delete(name)
    if (changed.eventTypes.length > 0) this.#changes += 1
  }

  forgetRoute(routeId: number): void {
    this.#shapes.delete(routeId)
    this.#changes += 1
  }

  async close(): Promise<void> {
    for (const shape of this.#transforms.values()) {
      if (shape.kind === 'transform') await shape.transform.close()
    }
  }

  #shapeOfRoute({ name, transform }: RouteShape): Shape {
    if (transform === null) return raw
    const found = this.#options.transforms.get(transform.type)
    const paths = found.isFound ? (found.transform.secrets ?? []) : []
    const opened = openTransform(transform, paths, name, this.#options.keyring)
    if (!opened.ok) {
      const message = `The transform of route "${name}" can't be used: ${opened.reason}.`
      return { kind: 'broken', error: { code: 'transform_secret_unreadable', message, isRetryable: true } }
    }
    return this.#compile(opened.transform)
  }

  #compile(config: Record<string, unknown> & { type: string }): Shape {
    const key = hash('sha256', JSON.stringify(config), 'base64')
    const known = this.#transforms.get(key)
    if (known !== undefined) return known
    const shape = this.#compileNew(key, config)
    this.#transforms.set(key, shape)
    return shape
  }

  #compileNew(key: string, config: Record<string, unknown> & { type: string }): Shape {
    const found = this.#options.transforms.get(config.type)
    if (!found.isFound) return { kind: 'broken', error: { code: found.code, message: found.message } }
    try {
      return { kind: 'transform', key, transform: found.transform.compile(config) }
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      return { kind: 'broken', error: { code: 'transform_invalid', message } }
    }
  }
}
