import { HoldfastError } from '../core/errors.ts'
import { problemOfData } from '../engine/sources/source-intake.ts'
import type { MappingConfig } from '../sources/mapping-config.ts'
import { type MappedEvent, MessageMapping, type Unreadable } from '../sources/message-mapping.ts'
import { writeAudit } from '../storage/audit-log.ts'
import type { Database } from '../storage/database.ts'
import type { Queryable } from '../storage/queryable.ts'
import {
  deleteRejects,
  listRejects,
  noteRejectTried,
  type RejectRecord,
  type RejectSummary,
  readReject,
  readRejectIds,
} from '../storage/source-rejects.ts'
import { readSource } from '../storage/sources.ts'
import { translateError } from '../storage/translate-error.ts'
import { sourceNotFound } from './sources.ts'

/** A message of a source that could not become an event. */
export type SourceReject = RejectSummary

export interface SourceRejectDetail extends SourceReject {
  /** Fields that templates can use besides the body: routing key, headers, properties. */
  readonly fields: Readonly<Record<string, unknown>>
  /** The body, at most its first 256 KiB; Base64 if it isn't text. */
  readonly body: string
  readonly bodyEncoding: 'utf8' | 'base64'
  readonly isBodyTruncated: boolean
}

export interface RetriedReject {
  /** Whether the message was published as an event, and is no reject any more. */
  readonly published: boolean
  /** The event; null if it could not be published. */
  readonly eventId: string | null
  readonly error: string | null
}

export interface RetriedRejects {
  readonly published: number
  readonly failed: number
  /** False if rejects are left: those beyond the limit of this call, or failed ones. */
  readonly isComplete: boolean
}

/** Stores events in the client's transaction. */
export type PublishIn = (
  events: readonly MappedEvent[],
  client: Queryable,
) => Promise<readonly { id: string }[]>

export interface SourceRejectsOptions {
  readonly database: () => Database
  readonly publish: PublishIn
  readonly actor: string
}

const maxShownBytes = 256 * 1024
/** The largest size of a value in PostgreSQL. */
const everything = 1_073_741_823
const maxRetried = 500
const maxDiscarded = 10_000

/** Messages of sources that could not become events, as they were received. Each can be retried with the current mapping, or discarded. */
export class SourceRejects {
  readonly #options: SourceRejectsOptions

  constructor(options: SourceRejectsOptions) {
    this.#options = options
  }

  /** Newest first. */
  async list(
    page: {
      readonly source?: string | undefined
      readonly beforeId?: number | null | undefined
      readonly limit?: number
    } = {},
  ): Promise<SourceReject[]> {
    return this.#run((database) =>
      listRejects(database, page.source ?? null, page.beforeId ?? null, page.limit ?? 50),
    )
  }

  async get(id: number): Promise<SourceRejectDetail> {
    const found = await this.#run((database) => readReject(database, id, maxShownBytes))
    if (found === undefined) throw rejectNotFound(id)
    const { body, fields, correlationId: _, ...rest } = found
    return {
      ...rest,
      fields: JSON.parse(fields) as Record<string, unknown>,
      ...shownBody(body),
      isBodyTruncated: body.length < found.size,
    }
  }

  /**
   * Publishes the message with the current mapping of its source. A message that was published before stays one event, because of its idempotency key
   * (by default its message id).
   */
  async retry(id: number): Promise<RetriedReject> {
    const tried = await this.#run((database) =>
      database.asOne((inside) => this.#retry(inside, id, new Map())),
    )
    if (tried === null) throw rejectNotFound(id)
    await this.#note('source.reject_retried', tried.source, { id, published: tried.result.published })
    return tried.result
  }

  /** Retries the rejects of a source, oldest first, at most 500. */
  async retryAll(source: string): Promise<RetriedRejects> {
    const ids = await this.#idsOf(source, maxRetried + 1)
    const mappings = new Map<string, MessageMapping>()
    let published = 0
    let failed = 0
    for (const id of ids.slice(0, maxRetried)) {
      const tried = await this.#run((database) =>
        database.asOne((inside) => this.#retry(inside, id, mappings)),
      )
      if (tried?.result.published === true) published += 1
      else if (tried !== null) failed += 1
    }
    await this.#note('source.rejects_retried', source, { published, failed })
    return { published, failed, isComplete: failed === 0 && ids.length <= maxRetried }
  }

  /** Deletes the message permanently. */
  async discard(id: number): Promise<void> {
    const found = await this.#run((database) => readReject(database, id, 0))
    const deleted = found && (await this.#run((database) => deleteRejects(database, [id])))
    if (found === undefined || deleted === 0) throw rejectNotFound(id)
    await this.#note('source.reject_discarded', found.source, { id })
  }

  /** Discards the rejects of a source, oldest first, at most 10,000. Returns how many. */
  async discardAll(source: string): Promise<number> {
    const ids = await this.#idsOf(source, maxDiscarded)
    const discarded = await this.#run((database) => deleteRejects(database, ids))
    await this.#note('source.rejects_discarded', source, { discarded })
    return discarded
  }

  async #idsOf(source: string, maxRows: number): Promise<number[]> {
    const known = await this.#run((database) => readSource(database, source))
    if (known === undefined) throw sourceNotFound(source)
    return this.#run((database) => readRejectIds(database, source, 0, maxRows))
  }

  /** Null if the reject no longer exists. */
  async #retry(
    database: Database,
    id: number,
    mappings: Map<string, MessageMapping>,
  ): Promise<{ readonly source: string; readonly result: RetriedReject } | null> {
    const reject = await readReject(database, id, everything, true)
    if (reject === undefined) return null
    const { source } = reject
    const mapping = mappings.get(source) ?? (await this.#mappingOf(database, source))
    mappings.set(source, mapping)
    const tried = await this.#publish(database, reject, mapping)
    if ('id' in tried) {
      await deleteRejects(database, [id])
      return { source, result: { published: true, eventId: tried.id, error: null } }
    }
    await noteRejectTried(database, id, tried.code, tried.message)
    return { source, result: { published: false, eventId: null, error: tried.message } }
  }

  async #mappingOf(database: Database, source: string): Promise<MessageMapping> {
    const stored = await readSource(database, source)
    if (stored === undefined) throw sourceNotFound(source)
    return new MessageMapping(source, stored.config as unknown as MappingConfig)
  }

  async #publish(
    database: Database,
    reject: RejectRecord,
    mapping: MessageMapping,
  ): Promise<Unreadable | { readonly id: string }> {
    const fields = JSON.parse(reject.fields) as Record<string, unknown>
    const mapped = mapping.map({ ...reject, fields, receipt: 0 })
    if (!mapped.ok) return mapped.problem
    try {
      const [event] = await database.attempt(() => this.#options.publish([mapped.event], database.queryable))
      if (event === undefined) throw new Error('accept_events returned nothing for one event')
      return event
    } catch (thrown) {
      const error = translateError(thrown)
      const problem = problemOfData(error)
      if (problem === null) throw error
      return problem
    }
  }

  async #note(action: string, source: string, detail: Readonly<Record<string, unknown>>): Promise<void> {
    await this.#run((database) =>
      writeAudit(database, { actor: this.#options.actor, action, subject: `source:${source}`, detail }),
    )
  }

  async #run<Result>(work: (database: Database) => Promise<Result>): Promise<Result> {
    try {
      return await work(this.#options.database())
    } catch (error) {
      throw translateError(error)
    }
  }
}

function shownBody(body: Buffer): { body: string; bodyEncoding: 'utf8' | 'base64' } {
  try {
    // A truncated body may end in the middle of a character.
    const text = new TextDecoder('utf-8', { fatal: true }).decode(body, { stream: true })
    return { body: text, bodyEncoding: 'utf8' }
  } catch {
    return { body: body.toString('base64'), bodyEncoding: 'base64' }
  }
}

function rejectNotFound(id: number): HoldfastError {
  return new HoldfastError(
    'source_reject_not_found',
    `There is no rejected message ${id}; it may have been retried or discarded. List them with: holdfast source-rejects list`,
    { id },
  )
}
