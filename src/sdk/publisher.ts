import { BoundedCache } from '../core/bounded-cache.ts'
import { formatId } from '../core/delivery/ids.ts'
import { HoldfastError } from '../core/errors.ts'
import { isEventType } from '../core/routes/event-type-pattern.ts'
import type { Node } from '../engine/node.ts'
import { intakeChecks } from '../schemas/payload-checker.ts'
import type { Database } from '../storage/database.ts'
import { readEventSchemas } from '../storage/event-types.ts'
import { publishEvents } from '../storage/publish-events.ts'
import type { Queryable } from '../storage/queryable.ts'
import { checkedOptions } from './message-options.ts'
import type { BatchEvent, PublishedEvent } from './messages.ts'
import { encodeEventPayload } from './payload.ts'

/** How long a schema is cached. */
const schemaTtlMs = 5000
/** Of the schemas that are cached. A type without a schema counts as 1 kB. */
const maxKnownCharacters = 16 * 1024 * 1024
const charactersPerType = 1024

/** A validated event that is ready to be stored. */
export interface PreparedEvent {
  readonly type: string
  /** JSON text. */
  readonly body: string
  readonly options: object | null
}

interface KnownSchema {
  readonly schema: object | null
  readonly readAtMs: number
}

/** Checks events against the schemas of their types, and stores them with their deliveries. */
export class Publisher {
  readonly #database: Database
  readonly #node: () => Node | null
  readonly #schemas = new BoundedCache<KnownSchema>(maxKnownCharacters)

  /** `node`: the running node of this process, which needn't wait for its next poll. */
  constructor(database: Database, node: () => Node | null) {
    this.#database = database
    this.#node = node
  }

  forget(eventType: string): void {
    this.#schemas.delete(eventType)
  }

  /** Validates events completely before anything is stored. */
  async prepare(events: readonly BatchEvent[]): Promise<PreparedEvent[]> {
    // A batch has few types: each is checked once.
    const types = new Set<unknown>()
    const prepared = events.map((event: BatchEvent | null, index) => {
      const { type, payload, ...rest } = event ?? ({} as BatchEvent)
      if (!types.has(type) && (typeof type !== 'string' || !isEventType(type))) throw badType(type, index)
      types.add(type)
      const body = encodeEventPayload(payload, index)
      return { type, body, options: Object.keys(rest).length === 0 ? null : checkedOptions(rest, index) }
    })
    await this.#checkSchemas(prepared)
    return prepared
  }

  /**
   * Stores events and their deliveries, all or none, in one statement whatever their number: the limits apply to the deliveries of the whole batch,
   * and a caller's client outside a transaction still stores all or nothing.
   */
  async store(events: readonly PreparedEvent[], client?: Queryable): Promise<PublishedEvent[]> {
    if (events.length === 0) return []
    const hasOptions = events.some(({ options }) => options !== null)
    const stored = await publishEvents(
      client ?? this.#database.queryable,
      events.map(({ type }) => type),
      events.map(({ body }) => body),
      hasOptions ? events.map(({ options }) => options) : null,
      true,
    )
    if (client === undefined) this.#node()?.ring()
    return stored.map(({ messageId, deliveries, held }) => ({
      id: formatId('msg', messageId),
      deliveries,
      held,
    }))
  }

  async #checkSchemas(events: readonly PreparedEvent[]): Promise<void> {
    const types = [...new Set(events.map(({ type }) => type))]
    const schemas = await this.#schemasOf(types)
    if (schemas.size === 0) return
    // Check the value that will be stored and sent, which may differ from the given one: a Date becomes text in JSON.
    const items = events.flatMap(({ type, body }, index) => {
      const schema = schemas.get(type)
      return schema === undefined ? [] : [{ type, index, schema, body }]
    })
    const checked = await intakeChecks.check(items)
    if (checked.kind === 'ok') return
    if (checked.kind === 'busy') throw checksBusy()
    const { type = '', index = 0 } = items[checked.index] ?? {}
    const listed = checked.failures
      .map(({ path, message }) => `${path || '(payload)'}: ${message}`)
      .join('; ')
    throw new HoldfastError(
      'schema_violation',
      `The payload of event ${index + 1} does not match the schema of "${type}". ${listed}`,
      { index, eventType: type, problems: checked.failures },
    )
  }

  /** The schemas of those types that have one. They are collected here, because the cache may drop some while others are read. */
  async #schemasOf(types: readonly string[]): Promise<ReadonlyMap<string, object>> {
    const nowMs = performance.now()
    const schemas = new Map<string, object>()
    const stale: string[] = []
    for (const type of types) {
      const known = this.#schemas.get(type)
      if (known === undefined || nowMs - known.readAtMs > schemaTtlMs) stale.push(type)
      else if (known.schema !== null) schemas.set(type, known.schema)
    }
    if (stale.length === 0) return schemas
    const found = new Map<string, object | null>(stale.map((type) => [type, null]))
    for (const { name, schema } of await readEventSchemas(this.#database, stale)) found.set(name, schema)
    for (const [type, schema] of found) {
      const length = schema === null ? 0 : JSON.stringify(schema).length
      this.#schemas.set(type, { schema, readAtMs: nowMs }, charactersPerType + length)
      if (schema !== null) schemas.set(type, schema)
    }
    return schemas
  }
}

export function checksBusy(): HoldfastError {
  return new HoldfastError(
    'checks_busy',
    'Too many payloads are waiting to be checked against their schemas. Try again in a moment.',
  )
}

function badType(type: unknown, index: number): HoldfastError {
  const rule = 'Use letters, digits, "_", "-" and dots between segments, such as order.created.'
  return new HoldfastError(
    'invalid_options',
    type === undefined || type === null || type === ''
      ? `The type of event ${index + 1} is missing. ${rule}`
      : `The type of event ${index + 1} is not a valid event type: ${JSON.stringify(type)}. ${rule}`,
    { index, type },
  )
}
