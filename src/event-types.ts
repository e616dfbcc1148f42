import { HoldfastError } from './core/errors.ts'
import { isEventType } from './core/event-type-pattern.ts'
import { parsePayloadSchema } from './schemas/payload-schema.ts'
import type { Database } from './storage/database.ts'
import {
  deleteEventType,
  type EventTypeRecord,
  listEventTypes,
  readEventTypes,
  writeEventType,
} from './storage/event-types.ts'
import { translateError } from './storage/translate-error.ts'

export interface EventTypeInput {
  /** `order.created`; no wildcards. */
  readonly name: string
  readonly description?: string | null
  /** JSON Schema 2020-12. Payloads that break it are refused by the SDK and the API. */
  readonly schema?: Record<string, unknown> | null
  readonly criticality?: 'best_effort' | 'standard' | 'critical' | null
}

export type EventType = EventTypeRecord

export interface EventTypesOptions {
  readonly database: () => Database
  readonly actor: string
  /** What is known of these types may have changed. */
  onChanged(name: string): void
}

const maxListed = 1000

/** What kinds of events there are. None has to be declared; one that is can have a schema and a criticality. */
export class EventTypes {
  readonly #options: EventTypesOptions

  constructor(options: EventTypesOptions) {
    this.#options = options
  }

  /** Creates the event type, or replaces it. */
  async put(input: EventTypeInput): Promise<EventType> {
    const problems: string[] = []
    if (!isEventType(input.name)) {
      problems.push(
        'name: must be letters, digits, "_", "-" and dots between segments, such as order.created',
      )
    }
    if (input.schema !== undefined && input.schema !== null) {
      const checked = parsePayloadSchema(input.schema)
      if (!checked.ok)
        problems.push(
          ...checked.problems.map(
            ({ path, message }) => `schema${path === '' ? '' : `.${path}`}: ${message}`,
          ),
        )
    }
    if (problems.length > 0) {
      throw new HoldfastError('invalid_event_type', `The event type is invalid. ${problems.join('; ')}`, {
        problems,
      })
    }
    const written = await this.#run((database) =>
      writeEventType(
        database,
        {
          name: input.name,
          description: input.description ?? null,
          schema: input.schema ?? null,
          criticality: input.criticality ?? null,
        },
        this.#options.actor,
      ),
    )
    this.#options.onChanged(input.name)
    return written
  }

  async get(name: string): Promise<EventType> {
    const [found] = await this.#run((database) => readEventTypes(database, [name]))
    if (found === undefined) throw notFound(name)
    return found
  }

  /** By name; at most a thousand at a time, after `afterName`. */
  async list(options: { afterName?: string; limit?: number } = {}): Promise<EventType[]> {
    const limit = Math.min(options.limit ?? maxListed, maxListed)
    return this.#run((database) => listEventTypes(database, options.afterName ?? '', limit))
  }

  async delete(name: string): Promise<void> {
    const isDeleted = await this.#run((database) => deleteEventType(database, name, this.#options.actor))
    if (!isDeleted) throw notFound(name)
    this.#options.onChanged(name)
  }

  async #run<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
    try {
      return await work(this.#options.database())
    } catch (error) {
      throw translateError(error)
    }
  }
}

function notFound(name: string): HoldfastError {
  return new HoldfastError('event_type_not_found', `The event type "${name}" has not been declared.`, {
    eventType: name,
  })
}
