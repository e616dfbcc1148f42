import type { PoolClient } from 'pg'
import { HoldfastError } from '../../core/errors.ts'
import type { MappedEvent, MessageMapping, Unreadable } from '../../sources/message-mapping.ts'
import type { SourceMessage } from '../../sources/source.ts'
import type { Database } from '../../storage/database.ts'
import { insertRejects } from '../../storage/source-rejects.ts'

/** Stores events in their order, all or none; in the client's transaction if one is given. */
export type PublishMapped = (events: readonly MappedEvent[], client?: PoolClient) => Promise<unknown>

export interface SourceIntakeOptions {
  readonly sourceId: number
  readonly mapping: MessageMapping
  readonly database: Database
  readonly publish: PublishMapped
}

interface Item {
  readonly message: SourceMessage
  readonly event: MappedEvent | null
  readonly problem: Unreadable | null
}

export interface Stored {
  readonly published: number
  readonly rejected: number
  /** The last stored message; all messages before it are stored too. */
  readonly last: SourceMessage
}

/**
 * Converts messages to events and stores them, in the order of the messages; stores a message that can't become an event unchanged, as
 * a reject. Each step is one transaction. `onStored` reports the progress, so that a repetition after an error contains only messages
 * that are not stored yet. Throws errors that the messages didn't cause.
 */
export class SourceIntake {
  readonly #options: SourceIntakeOptions

  constructor(options: SourceIntakeOptions) {
    this.#options = options
  }

  async store(messages: readonly SourceMessage[], onStored: (stored: Stored) => void): Promise<void> {
    await this.#store(
      messages.map((message) => this.#map(message)),
      onStored,
    )
  }

  #map(message: SourceMessage): Item {
    const mapped = this.#options.mapping.map(message)
    return mapped.ok
      ? { message, event: mapped.event, problem: null }
      : { message, event: null, problem: mapped.problem }
  }

  async #store(items: readonly Item[], onStored: (stored: Stored) => void): Promise<void> {
    const events = items.flatMap(({ event }) => (event === null ? [] : [event]))
    try {
      await this.#commit(items, events)
    } catch (error) {
      const problem = problemOfData(error)
      if (problem === null || events.length === 0) throw error
      if (events.length === 1) {
        const without = items.map((item) => (item.event === null ? item : { ...item, event: null, problem }))
        await this.#store(without, onStored)
        return
      }
      const middle = Math.ceil(items.length / 2)
      await this.#store(items.slice(0, middle), onStored)
      await this.#store(items.slice(middle), onStored)
      return
    }
    const last = items.at(-1)?.message
    if (last !== undefined)
      onStored({ published: events.length, rejected: items.length - events.length, last })
  }

  async #commit(items: readonly Item[], events: readonly MappedEvent[]): Promise<void> {
    const { publish, database, sourceId } = this.#options
    if (items.length === 0) return
    if (events.length === items.length) {
      await publish(events)
      return
    }
    const rejects = items.flatMap(({ message, problem }) =>
      problem === null ? [] : [{ ...message, code: problem.code, error: problem.message }],
    )
    await database.inTransaction(async (client) => {
      if (events.length > 0) await publish(events, client)
      await insertRejects(client, sourceId, rejects)
    })
  }
}

const codesOfData: ReadonlySet<string> = new Set([
  'invalid_options',
  'invalid_payload',
  'payload_too_large',
  'schema_violation',
  'idempotency_conflict',
])

/** Returns what is wrong with the events themselves: data exceptions, violated constraints, limits of PostgreSQL. Null for an error that may pass. */
export function problemOfData(error: unknown): Unreadable | null {
  if (!(error instanceof Error)) return null
  const { code } = error as { readonly code?: unknown }
  if (typeof code !== 'string') return null
  if (error instanceof HoldfastError ? codesOfData.has(code) : /^(?:22|23|54)[0-9A-Z]{3}$/.test(code))
    return { code: error instanceof HoldfastError ? code : 'not_storable', message: error.message }
  return null
}
