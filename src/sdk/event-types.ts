import { HoldfastError } from '../core/errors.ts'
import { type EventTypeInput, parseEventType } from '../core/event-type-input.ts'
import { type Problem } from '../core/problem.ts'
import { intakeChecks } from '../schemas/payload-checker.ts'
import type { Database } from '../storage/database.ts'
import {
  deleteEventType,
  type EventTypeRecord,
  listEventTypes,
  readEventTypes,
  writeEventType,
} from '../storage/event-types.ts'
import { translateError } from '../storage/translate-error.ts'
import { withReason } from '../storage/with-reason.ts'
import type { Because } from './endpoints.ts'
import { checksBusy } from './publisher.ts'

export type { EventTypeInput } from '../core/event-type-input.ts'

export type EventType = EventTypeRecord

export interface EventTypesOptions {
  readonly database: () => Database
  readonly actor: string
  /** What is known of these types may have changed. */
  readonly onChanged: (name: string) => void
}

const maxListed = 1000

/** What kinds of events there are. None has to be declared; one that is can have a schema and a criticality. */
export class EventTypes {
  readonly #options: EventTypesOptions

  constructor(options: EventTypesOptions) {
    this.#options = options
  }

  /** Declares an event type that hasn't been declared. */
  async create(input: EventTypeInput): Promise<EventType> {
    return this.#write(input, 'insert')
  }

  /** Creates the event type, or replaces it. */
  async put(input: EventTypeInput, { reason }: Because = {}): Promise<EventType> {
    return this.#write(input, 'upsert', reason)
  }

  async get(name: string): Promise<EventType> {
    const [found] = await this.#run((database) => readEventTypes(database, [name]))
    if (found === undefined) throw notFound(name)
    return found
  }

  /** By name; at most a thousand at a time, after `afterName`. */
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

  async #write(input: EventTypeInput, mode: 'insert' | 'upsert', reason?: string): Promise<EventType> {
    const parsed = parseEventType(input)
    if (!parsed.ok) throw invalid(parsed.problems)
    const { schema } = parsed.value
    if (schema !== null) {
      const checked = await intakeChecks.parse(schema)
      if (checked === null) throw checksBusy()
      if (!checked.ok) {
        throw invalid(
          checked.problems.map(({ path, message }) => ({
            path: path === '' ? 'schema' : `schema.${path}`,
            message,
          })),
        )
      }
    }
    const written = await this.#run(
      (database) => writeEventType(database, mode, parsed.value, this.#options.actor),
      reason,
    )
    if (written === undefined) {
      throw new HoldfastError(
        'event_type_exists',
        `The event type "${parsed.value.name}" has been declared already. Replace it with PUT, or choose another name.`,
        { eventType: parsed.value.name },
      )
    }
    this.#tellOfChange(written.name)
    return written
  }

  #tellOfChange(name: string): void {
    const { database, onChanged } = this.#options
    database().afterCommit(() => onChanged(name))
  }

  async #run<Result>(work: (database: Database) => Promise<Result>, reason?: string): Promise<Result> {
    try {
      return await withReason(this.#options.database(), reason, work)
    } catch (error) {
      throw translateError(error)
    }
  }
}

function invalid(problems: readonly Problem[]): HoldfastError {
  const listed = problems.map(({ path, message }) => `${path}: ${message}`).join('; ')
  return new HoldfastError('invalid_event_type', `The event type is invalid. ${listed}`, { problems })
}

function notFound(name: string): HoldfastError {
  return new HoldfastError('event_type_not_found', `The event type "${name}" has not been declared.`, {
    eventType: name,
  })
}
