import { HoldfastError } from './core/errors.ts'
import { isEventType } from './core/event-type-pattern.ts'
import { formatId } from './core/ids.ts'
import type { BatchEvent, PublishedEvent } from './holdfast.ts'
import { checkedOptions } from './message-options.ts'
import { encodePayload } from './payload.ts'
import { checkPayload } from './schemas/payload-schema.ts'
import type { Database } from './storage/database.ts'
import { readEventTypes } from './storage/event-types.ts'
import { publishEvents } from './storage/publish-events.ts'
import type { Sender } from './storage/send-messages.ts'

/** How long a schema is trusted before it is looked up again. */
const schemaTtlMs = 5000
const maxKnownTypes = 10_000
/** Larger batches are stored in pieces of this size, inside one transaction. */
const maxBatchEvents = 2000

interface KnownSchema {
  readonly schema: object | null
  readonly readAtMs: number
}

/** Checks events against their types' schemas and stores them, fanned out. */
export class Publisher {
  readonly #database: Database
  readonly #schemas = new Map<string, KnownSchema>()

  constructor(database: Database) {
    this.#database = database
  }

  forget(eventType: string): void {
    this.#schemas.delete(eventType)
  }

  async publish(events: readonly BatchEvent[], client: Sender | undefined): Promise<PublishedEvent[]> {
    const types = events.map((event) => event.type)
    const bodies: string[] = []
    const options: (object | null)[] = []
    let hasOptions = false
    events.forEach(({ type, payload, ...rest }, index) => {
      if (!isEventType(type)) throw badType(type, index)
      bodies.push(encodePayload(payload, index))
      const given = Object.keys(rest).length === 0 ? null : checkedOptions(rest, index)
      hasOptions ||= given !== null
      options.push(given)
    })
    await this.#checkSchemas(events)
    const store = async (sender: Sender) => {
      const accepted: PublishedEvent[] = []
      for (let at = 0; at < bodies.length; at += maxBatchEvents) {
        const to = at + maxBatchEvents
        const piece = hasOptions ? options.slice(at, to) : null
        const stored = await publishEvents(sender, types.slice(at, to), bodies.slice(at, to), piece, true)
        for (const { messageId, deliveries, held } of stored) {
          accepted.push({ id: formatId('msg', messageId), deliveries, held })
        }
      }
      return accepted
    }
    if (client !== undefined) return store(client)
    return bodies.length <= maxBatchEvents ? store(this.#database.pool) : this.#database.inTransaction(store)
  }

  async #checkSchemas(events: readonly BatchEvent[]): Promise<void> {
    await this.#load([...new Set(events.map((event) => event.type))])
    events.forEach(({ type, payload }, index) => {
      const schema = this.#schemas.get(type)?.schema ?? null
      if (schema === null) return
      const checked = checkPayload(schema, payload)
      if (checked.ok) return
      const listed = checked.failures
        .map(({ path, message }) => `${path || '(payload)'}: ${message}`)
        .join('; ')
      throw new HoldfastError(
        'schema_violation',
        `The payload of event ${index + 1} breaks the schema of "${type}". ${listed}`,
        { index, eventType: type, problems: checked.failures },
      )
    })
  }

  async #load(types: readonly string[]): Promise<void> {
    const nowMs = performance.now()
    const stale = types.filter((type) => {
      const known = this.#schemas.get(type)
      return known === undefined || nowMs - known.readAtMs > schemaTtlMs
    })
    if (stale.length === 0) return
    if (this.#schemas.size > maxKnownTypes) this.#schemas.clear()
    const found = await readEventTypes(this.#database, stale)
    for (const type of stale) this.#schemas.set(type, { schema: null, readAtMs: nowMs })
    for (const { name, schema } of found) this.#schemas.set(name, { schema, readAtMs: nowMs })
  }
}

function badType(type: unknown, index: number): HoldfastError {
  return new HoldfastError(
    'invalid_options',
    `The type of event ${index + 1} is not a valid event type: ${JSON.stringify(type)}. Use letters, digits, "_", "-" and dots between segments, such as order.created.`,
    { index, type },
  )
}
