import type { Parsed, Problem } from '../core/problem.ts'
import { maxSchemaLength } from './payload-schema.ts'
import { SchemaThread, type ThreadBounds } from './schema-thread.ts'

/** One payload and its schema. */
export interface CheckItem {
  readonly schema: object
  /** JSON text. */
  readonly body: string
}

export type ItemsCheck =
  | { readonly kind: 'ok' }
  | {
      readonly kind: 'failed'
      /** The first item that fails. */
      readonly index: number
      readonly code: 'schema_violation' | 'schema_too_costly' | 'schema_invalid'
      readonly failures: readonly Problem[]
    }
  /** Too many requests are waiting; the same call may succeed a moment later. */
  | { readonly kind: 'busy' }

/** A validation above one of these limits is large. */
const maxSmallBytes = 16 * 1024
const maxSmallSchemaLength = 4 * 1024

/**
 * Validates payloads against JSON Schemas, never in the main thread: a publisher chooses the payload, the author of an event type the
 * schema, and both determine the cost. 900 kB against a pattern took 3 s, and compiling a schema of 50 kB takes 7 s (measured). Large
 * validations have their own thread, so that small ones needn't wait for them.
 */
export class PayloadChecker {
  readonly #small: SchemaThread
  readonly #large: SchemaThread
  readonly #texts = new WeakMap<object, string>()

  constructor(bounds: ThreadBounds) {
    this.#small = new SchemaThread(bounds)
    this.#large = new SchemaThread(bounds)
  }

  /** Validates all payloads of one call, which share one budget. */
  async check(items: readonly CheckItem[]): Promise<ItemsCheck> {
    if (items.length === 0) return { kind: 'ok' }
    let bytes = 0
    let schemaLength = 0
    const texts = items.map(({ schema, body }) => {
      const text = this.#textOf(schema)
      bytes += body.length
      schemaLength = Math.max(schemaLength, text.length)
      return { schema: text, body }
    })
    const isSmall = bytes <= maxSmallBytes && schemaLength <= maxSmallSchemaLength
    return (isSmall ? this.#small : this.#large).run({ kind: 'payloads', items: texts }, bytes)
  }

  /** Whether a JSON Schema can be used, or what is wrong with it. Null: too many requests are waiting. */
  async parse(schema: unknown): Promise<Parsed<true> | null> {
    const text = JSON.stringify(schema) as string | undefined
    if (text === undefined || text.length > maxSchemaLength) {
      const message = `must be a JSON Schema of at most ${maxSchemaLength} characters`
      return { ok: false, problems: [{ path: '', message }] }
    }
    const reply = await this.#large.run({ kind: 'schema', schema: text }, text.length)
    if (reply.kind === 'busy') return null
    return reply.kind === 'ok' ? { ok: true, value: true } : { ok: false, problems: reply.failures }
  }

  /** Ends the threads; a later validation starts them again. */
  stop(): void {
    this.#small.stop()
    this.#large.stop()
  }

  /** Callers keep a schema object for seconds, so it is serialized once, not for every payload. */
  #textOf(schema: object): string {
    let text = this.#texts.get(schema)
    if (text === undefined) {
      text = JSON.stringify(schema)
      this.#texts.set(schema, text)
    }
    return text
  }
}

/** For incoming work: publishing, previews, the declaration of event types. */
export const intakeChecks = new PayloadChecker({ maxRequests: 1000, maxLength: 64 * 1024 * 1024 })
/**
 * For deliveries, which no publisher should be able to delay. A node's read-ahead is bounded, and no
 * delivery should fail because too many requests wait here.
 */
export const deliveryChecks = new PayloadChecker({
  maxRequests: Number.POSITIVE_INFINITY,
  maxLength: Number.POSITIVE_INFINITY,
})
