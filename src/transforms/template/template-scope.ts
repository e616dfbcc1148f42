import { parseExactJson } from '../exact-json.ts'
import { joinAsJsonArray } from '../json-array.ts'
import type { TransformInput } from '../transform.ts'
import type { Operand, PathStep } from './template-expression.ts'

/** Which variables are available: those of one message, or those of a batch. */
export type ScopeKind = 'message' | 'batch'

/** Provides a template's values. Created per rendering; the payload is parsed when the first placeholder needs it. */
export interface TemplateScope {
  /** Returns undefined if there is no such value. */
  resolve(operand: Operand): unknown
  /** The JSON text of a value that is available as text: the original payload, the items of a batch. */
  source(operand: Operand): string | undefined
  /** Length rendered so far; limits templates that multiply a large payload. */
  renderedLength: number
  /** The JSON texts of large values that were written so far, and their total length. */
  readonly written: Map<unknown, string>
  writtenLength: number
}

type MessageVariable = (input: TransformInput) => unknown

const messageVariables: Readonly<Record<string, MessageVariable>> = {
  now: (input) => new Date(input.nowMs).toISOString(),
  messageId: (input) => input.messageId,
  deliveryId: (input) => input.deliveryId,
  eventType: (input) => input.eventType,
  tenant: (input) => input.tenant,
  correlationId: (input) => input.correlationId,
  endpoint: (input) => input.endpoint,
  attempt: (input) => input.attempt,
  createdAt: (input) => new Date(input.createdAtMs).toISOString(),
  metadata: (input) => input.metadata ?? {},
  headers: (input) => input.headers,
}

const payloadVariables = ['', 'payload']
const batchVariables = ['items', 'count', 'now', 'endpoint']

/** Variables whose values differ by recipient and attempt. */
export const volatileVariables: ReadonlySet<string> = new Set(['now', 'attempt', 'deliveryId', 'endpoint'])

export function variableNames(kind: ScopeKind): readonly string[] {
  return kind === 'batch' ? batchVariables : [...payloadVariables, ...Object.keys(messageVariables)]
}

export class MessageScope implements TemplateScope {
  readonly #input: TransformInput
  #payload: unknown
  #isPayloadRead = false
  renderedLength = 0
  readonly written = new Map<unknown, string>()
  writtenLength = 0

  constructor(input: TransformInput) {
    this.#input = input
  }

  resolve(operand: Operand): unknown {
    if (operand.kind === 'literal') return operand.value
    const { variable, steps } = operand
    if (variable === null || variable === '' || variable === 'payload') return walk(this.#read(), steps)
    if (variable === 'headers' && steps.length === 1) return this.#header(String(steps[0]))
    return walk(messageVariables[variable]?.(this.#input), steps)
  }

  source(operand: Operand): string | undefined {
    if (operand.kind === 'literal' || operand.variable === null || operand.steps.length > 0) return undefined
    return payloadVariables.includes(operand.variable) ? this.#input.body : undefined
  }

  #read(): unknown {
    if (!this.#isPayloadRead) this.#payload = parseExactJson(this.#input.body)
    this.#isPayloadRead = true
    return this.#payload
  }

  /** Header names are case-insensitive. */
  #header(name: string): string | undefined {
    const wanted = name.toLowerCase()
    for (const [key, value] of Object.entries(this.#input.headers)) {
      if (key.toLowerCase() === wanted) return value
    }
    return undefined
  }
}

/** Variables of an envelope around rendered messages. */
export class BatchScope implements TemplateScope {
  readonly #first: TransformInput
  readonly #items: readonly string[]
  renderedLength = 0
  readonly written = new Map<unknown, string>()
  writtenLength = 0

  constructor(first: TransformInput, items: readonly string[]) {
    this.#first = first
    this.#items = items
  }

  resolve(operand: Operand): unknown {
    if (operand.kind === 'literal') return operand.value
    if (operand.variable === 'count') return this.#items.length
    if (operand.variable === 'items')
      return walk(
        this.#items.map((item) => parseExactJson(item)),
        operand.steps,
      )
    return messageVariables[operand.variable ?? '']?.(this.#first)
  }

  source(operand: Operand): string | undefined {
    if (operand.kind === 'literal' || operand.variable !== 'items' || operand.steps.length > 0)
      return undefined
    return joinAsJsonArray(this.#items)
  }
}

/** Own properties only, so that no path reaches a prototype. */
export function walk(root: unknown, steps: readonly PathStep[]): unknown {
  let value = root
  for (const step of steps) {
    if (typeof value !== 'object' || value === null) return undefined
    if (Array.isArray(value)) {
      if (typeof step !== 'number') return undefined
      value = value.at(step) as unknown
    } else {
      const key = String(step)
      if (!Object.hasOwn(value, key)) return undefined
      value = (value as Record<string, unknown>)[key]
    }
  }
  return value
}
