import { createHash } from 'node:crypto'
import { PayloadError } from '../transforms/exact-json.ts'
import { type RenderNode, TemplateRenderError } from '../transforms/template/compile-template.ts'
import type { MappingConfig } from './mapping-config.ts'
import type { SourceMessage } from './source.ts'
import { SourceScope } from './source-scope.ts'
import { compileSourceJson, compileSourceText, type RenderSourceText } from './source-template.ts'

/** An event made from a message. */
export interface MappedEvent {
  readonly type: string
  /** The payload as JSON text. */
  readonly body: string
  readonly options: Readonly<Record<string, string>>
}

/** Why a message can't become an event. */
export interface Unreadable {
  readonly code: string
  readonly message: string
}

export type Mapped =
  | { readonly ok: true; readonly event: MappedEvent }
  | { readonly ok: false; readonly problem: Unreadable }

const maxKeyLength = 255

/** Converts the messages of one source to events; its templates are compiled once. */
export class MessageMapping {
  readonly #source: string
  readonly #eventType: RenderSourceText
  /** Null: the payload is the body, unchanged. */
  readonly #payload: RenderNode | null
  readonly #texts: readonly (readonly [option: string, render: RenderSourceText])[]
  readonly #key: RenderSourceText | null

  /** Throws a `TransformConfigError` for templates that can't be used. */
  constructor(source: string, config: MappingConfig) {
    this.#source = source
    this.#eventType = compileSourceText(config.eventType, 'eventType')
    this.#payload = config.payload === null ? null : compileSourceJson(config.payload, 'payload')
    this.#texts = (['tenant', 'orderingKey', 'correlationId'] as const).flatMap((option) => {
      const template = config[option]
      return template === null ? [] : [[option, compileSourceText(template, option)] as const]
    })
    this.#key =
      config.idempotencyKey === null ? null : compileSourceText(config.idempotencyKey, 'idempotencyKey')
  }

  map(message: SourceMessage): Mapped {
    try {
      return { ok: true, event: this.#map(message, new SourceScope(message)) }
    } catch (error) {
      return { ok: false, problem: problemOf(error) }
    }
  }

  #map(message: SourceMessage, scope: SourceScope): MappedEvent {
    const type = this.#eventType(scope) ?? ''
    const body =
      this.#payload === null
        ? (scope.source({ kind: 'path', variable: null, steps: ['body'] }) ?? '')
        : (this.#payload(scope) ?? 'null')
    const options: Record<string, string> = {}
    if (message.correlationId !== null && message.correlationId !== '')
      options['correlationId'] = message.correlationId
    for (const [option, render] of this.#texts) {
      const text = render(scope)
      if (text === undefined || text === '') delete options[option]
      else options[option] = text
    }
    const key = this.#key === null ? message.messageId : this.#key(scope)
    if (key !== null && key !== undefined && key !== '') options['idempotencyKey'] = this.#keyOf(key)
    return { type, body, options }
  }

  /** Prefixed with the source, because two sources may receive messages with the same id. */
  #keyOf(id: string): string {
    const key = `source:${this.#source}:${id}`
    if (key.length <= maxKeyLength) return key
    return `source:${this.#source}:sha256:${createHash('sha256').update(id).digest('hex')}`
  }
}

function problemOf(error: unknown): Unreadable {
  if (error instanceof TemplateRenderError) return { code: error.code, message: error.message }
  if (error instanceof PayloadError) {
    const message =
      error.code === 'payload_invalid_json'
        ? 'The body is not valid JSON. For other bodies, set "payload" to a template with {{ text }} or {{ base64 }}.'
        : error.message
    return { code: error.code, message }
  }
  if (error instanceof TypeError) {
    return {
      code: 'body_not_text',
      message:
        'The body is not valid UTF-8, so it cannot be read as JSON. Set "payload" to a template with {{ base64 }}.',
    }
  }
  throw error
}
