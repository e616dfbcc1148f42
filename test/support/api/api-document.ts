import { readFileSync } from 'node:fs'
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import formats from 'ajv-formats'

export type Json = Record<string, unknown>

export interface DescribedParameter {
  readonly name: string
  readonly in: 'path' | 'query' | 'header'
  readonly required: boolean
  readonly schema: Json & { readonly examples?: readonly string[] }
}

/** One call as the committed OpenAPI document describes it. */
export interface DescribedOperation {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly parameters: readonly DescribedParameter[]
  /** The body's schema, references followed one step; null when the call takes none. */
  readonly body: Json | null
  readonly isBodyRequired: boolean
  /** By status: the content type and its schema, as it stands in the document. */
  readonly responses: Readonly<
    Record<string, { readonly contentType: string; readonly pointer: string } | null>
  >
}

interface RawOperation {
  readonly operationId: string
  readonly parameters?: readonly DescribedParameter[]
  readonly requestBody?: { readonly required: boolean; readonly content: Record<string, { schema: Json }> }
  readonly responses: Record<string, { readonly content?: Record<string, unknown> }>
}

interface RawDocument {
  readonly paths: Record<string, Record<string, RawOperation>>
  readonly components: { readonly schemas: Record<string, Json> }
}

/** `openapi.json`, for tests that are generated from it. */
export class ApiDocument {
  readonly operations: readonly DescribedOperation[]
  readonly #raw: RawDocument
  readonly #ajv = new Ajv2020({ strict: false, allErrors: true })
  readonly #validators = new Map<string, ValidateFunction>()

  constructor() {
    this.#raw = JSON.parse(readFileSync('openapi.json', 'utf8')) as RawDocument
    formats.default(this.#ajv)
    this.#ajv.addSchema(this.#raw, 'api')
    this.operations = Object.entries(this.#raw.paths).flatMap(([path, item]) =>
      Object.entries(item).map(([method, raw]) => this.#toOperation(path, method, raw)),
    )
  }

  /** What is wrong with an answer by the document; empty when nothing is. */
  problemsOf(operation: DescribedOperation, status: number, contentType: string, body: unknown): string[] {
    if (!(status in operation.responses)) return [`${status} is not a status that the document lists`]
    const response = operation.responses[status] ?? null
    if (response === null) return body === '' ? [] : ['the document knows no body here']
    if (!contentType.startsWith(response.contentType)) return [`${contentType}, not ${response.contentType}`]
    if (!response.contentType.includes('json')) return []
    const validate = this.#validator(response.pointer)
    if (validate(body)) return []
    return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath}: ${message}`)
  }

  /** A schema with its reference followed. */
  resolve(schema: Json): Json {
    const reference = schema['$ref']
    if (typeof reference !== 'string') return schema
    return this.#raw.components.schemas[reference.replace('#/components/schemas/', '')] ?? {}
  }

  #validator(pointer: string): ValidateFunction {
    const known = this.#validators.get(pointer)
    if (known !== undefined) return known
    const validate = this.#ajv.compile({ $ref: `api#${pointer}` })
    this.#validators.set(pointer, validate)
    return validate
  }

  #toOperation(path: string, method: string, raw: RawOperation): DescribedOperation {
    const schema = raw.requestBody?.content['application/json']?.schema
    const at = `/paths/${escapePointer(path)}/${method}/responses`
    return {
      id: raw.operationId,
      method: method.toUpperCase(),
      path,
      parameters: raw.parameters ?? [],
      body: schema === undefined ? null : this.resolve(schema),
      isBodyRequired: raw.requestBody?.required ?? false,
      responses: Object.fromEntries(
        Object.entries(raw.responses).map(([status, { content }]) => {
          const contentType = Object.keys(content ?? {})[0]
          if (contentType === undefined) return [status, null]
          const pointer = `${at}/${status}/content/${escapePointer(contentType)}/schema`
          return [status, { contentType, pointer }]
        }),
      ),
    }
  }
}

/** As a part of a JSON pointer in a URL's fragment. */
function escapePointer(part: string): string {
  return encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1'))
}
