import { HoldfastError } from '../core/errors.ts'
import { listProblems, type Problem } from '../core/problem.ts'
import {
  type EventTypeInput,
  type EventTypeSettings,
  parseEventType,
} from '../core/routes/event-type-input.ts'
import { intakeChecks } from '../schemas/payload-checker.ts'
import type { Database } from '../storage/database.ts'
import { countRecentTypes, readEventBodies } from '../storage/event-samples.ts'
import {
  deleteEventType,
  type EventTypeRecord,
  listEventTypes,
  readEventTypes,
  writeEventType,
} from '../storage/event-types.ts'
import { find } from '../storage/find.ts'
import { beforeEverything } from '../storage/page.ts'
import type { Because } from './endpoints.ts'
import { onDatabase } from './page.ts'
import { checksBusy } from './publisher.ts'
import { checkEvents, type SchemaCheck } from './schema-check.ts'

export type { EventTypeInput } from '../core/routes/event-type-input.ts'

export type EventType = EventTypeRecord

export interface EventTypesOptions {
  readonly database: () => Database
  readonly actor: string
  /** An event type may have changed. */
  readonly onChanged: (name: string) => void
}

/** A validated event type, whose schema has been compiled. */
export class PreparedEventType {
  readonly settings: EventTypeSettings

  constructor(settings: EventTypeSettings) {
    this.settings = settings
  }
}

const maxListed = 1000
const maxRecentMessages = 10_000
const maxChecked = 200

export interface RecentEventTypes {
  /** Most frequent first. */
  readonly data: readonly { readonly type: string; readonly count: number; readonly lastSeenAt: Date }[]
  /** Number of messages examined. */
  readonly scanned: number
  readonly since: Date | null
}

/** Event types. None has to be declared; a declared one can have a schema and a criticality. */
export class EventTypes {
  readonly #options: EventTypesOptions

  constructor(options: EventTypesOptions) {
    this.#options = options
  }

  /** Validates an event type, which takes seconds if its schema is large. Do this before a transaction that stores it. */
  async prepare(input: EventTypeInput): Promise<PreparedEventType> {
    const parsed = parseEventType(input)
    if (!parsed.ok) throw invalid(parsed.problems)
    const { schema } = parsed.value
    if (schema !== null) await this.#checkSchema(schema)
    return new PreparedEventType(parsed.value)
  }

  /** Declares an event type that hasn't been declared. */
  async create(input: EventTypeInput | PreparedEventType): Promise<EventType> {
    return this.#write(input, 'insert')
  }

  /** Creates the event type, or replaces it. */
  async put(input: EventTypeInput | PreparedEventType, { reason }: Because = {}): Promise<EventType> {
    return this.#write(input, 'upsert', reason)
  }

  async get(name: string): Promise<EventType> {
    const [found] = await this.#run((database) => readEventTypes(database, [name]))
    if (found === undefined) throw notFound(name)
    return found
  }

  /** Sorted by name; at most a thousand, after `afterName`. */
  async list(options: { afterName?: string | undefined; limit?: number } = {}): Promise<EventType[]> {
    const limit = Math.min(options.limit ?? maxListed, maxListed + 1)
    return this.#run((database) => listEventTypes(database, options.afterName ?? '', limit))
  }

  async delete(name: string, { reason }: Because = {}): Promise<void> {
    const isDeleted = await this.#run(
      (database) => deleteEventType(database, name, this.#options.actor),
      reason,
    )
    if (!isDeleted) throw notFound(name)
    this.#tellOfChange(name)
  }

  /** Lists the types of recently published events, declared or not, of the newest 10,000 messages. */
  async recent(): Promise<RecentEventTypes> {
    const { types, scanned, since } = await this.#run((database) =>
      countRecentTypes(database, maxRecentMessages),
    )
    return { data: types, scanned, since }
  }

  /** Checks the newest events of a type against a schema: at most 200 events and 4 MB. */
  async check(name: string, schema: object): Promise<SchemaCheck> {
    await this.#checkSchema(schema)
    return this.#run(async (database) => {
      const filter = { eventType: name }
      const { ids } = await find(database, 'events', filter, beforeEverything, maxChecked)
      const events = await readEventBodies(database, ids)
      return checkEvents(schema, events)
    })
  }

  async #checkSchema(schema: object): Promise<void> {
    const checked = await intakeChecks.parse(schema)
    if (checked === null) throw checksBusy()
    if (checked.ok) return
    throw invalid(
      checked.problems.map(({ path, message }) => ({
        path: path === '' ? 'schema' : `schema.${path}`,
        message,
      })),
    )
  }

  async #write(
    input: EventTypeInput | PreparedEventType,
    mode: 'insert' | 'upsert',
    reason?: string,
  ): Promise<EventType> {
    const { settings } = input instanceof PreparedEventType ? input : await this.prepare(input)
    const written = await this.#run(
      (database) => writeEventType(database, mode, settings, this.#options.actor),
      reason,
    )
    if (written === undefined) {
      throw new HoldfastError(
        'event_type_exists',
        `The event type "${settings.name}" is already declared. Replace it with PUT, or choose another name.`,
        { eventType: settings.name },
      )
    }
    this.#tellOfChange(written.name)
    return written
  }

  #tellOfChange(name: string): void {
    const { database, onChanged } = this.#options
    database().afterCommit(() => onChanged(name))
  }

  #run<Result>(work: (database: Database) => Promise<Result>, reason?: string): Promise<Result> {
    return onDatabase(this.#options.database(), work, reason)
  }
}

function invalid(problems: readonly Problem[]): HoldfastError {
  const listed = listProblems(problems)
  return new HoldfastError('invalid_event_type', `The event type is invalid. ${listed}`, { problems })
}

function notFound(name: string): HoldfastError {
  return new HoldfastError(
    'event_type_not_found',
    `The event type "${name}" is not declared. List the declared ones with: holdfast event-types list`,
    {
      eventType: name,
    },
  )
}
