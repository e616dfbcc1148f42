import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { isDeepStrictEqual } from 'node:util'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { caliperEnvelopeSchema } from './caliper-schema.ts'
import { validateStatement } from './validate-statement.ts'

type Statement = Record<string, unknown> & { id: string }

export interface RecordStoreOptions {
  /** `Authorization` that is asked for; null: none. */
  readonly authorization?: string | null
  /** The answer to a wrong one. */
  readonly unauthorizedStatus?: number
  readonly maxBytes?: number
  /** Refuses a statement that is right in itself, as stores with rules of their own do. */
  refuses?(statement: Statement): string | null
  /** Called before each answer is sent. */
  onAnswer?(status: number, store: RecordStore): void
}

/**
 * A record store as real ones are: xAPI `/statements` and Caliper `/caliper`, checked by the specifications, a batch taken whole or not at all, 409 for
 * another body under a known id.
 */
export class RecordStore implements AsyncDisposable {
  readonly statements = new Map<string, Statement>()
  readonly caliperEvents = new Map<string, Record<string, unknown>>()
  /** The status of every request, in order. */
  readonly answers: number[] = []
  /** How many items each request had. */
  readonly sizes: number[] = []
  isDown = false
  authorization: string | null
  readonly #options: RecordStoreOptions
  readonly #server: Server
  readonly #isEnvelope = new Ajv2020({ strict: false }).compile(caliperEnvelopeSchema)

  private constructor(options: RecordStoreOptions) {
    this.#options = options
    this.authorization = options.authorization ?? null
    this.#server = createServer((request, response) => void this.#answer(request, response))
  }

  static async start(options: RecordStoreOptions = {}): Promise<RecordStore> {
    const store = new RecordStore(options)
    await new Promise<void>((resolve) => store.#server.listen(0, '127.0.0.1', resolve))
    return store
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await text(request)
    const [status, answer] = this.#judge(request, body)
    this.answers.push(status)
    this.#options.onAnswer?.(status, this)
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(answer))
  }

  #judge(request: IncomingMessage, body: string): [number, unknown] {
    if (this.isDown) return [503, { error: 'down' }]
    if (this.authorization !== null && request.headers.authorization !== this.authorization)
      return [this.#options.unauthorizedStatus ?? 401, { error: 'unauthorized' }]
    if (Buffer.byteLength(body) > (this.#options.maxBytes ?? Number.POSITIVE_INFINITY))
      return [413, { error: 'too large' }]
    if (request.method !== 'POST') return [405, { error: 'method' }]
    let content: unknown
    try {
      content = JSON.parse(body)
    } catch {
      return [400, { error: 'not JSON' }]
    }
    return request.url === '/caliper' ? this.#takeCaliper(content) : this.#takeStatements(request, content)
  }

  #takeStatements(request: IncomingMessage, content: unknown): [number, unknown] {
    if (!String(request.headers['x-experience-api-version'] ?? '').startsWith('1.0'))
      return [400, { error: 'X-Experience-API-Version' }]
    const given = (Array.isArray(content) ? content : [content]) as Statement[]
    this.sizes.push(given.length)
    const ids = new Set<string>()
    for (const [index, statement] of given.entries()) {
      const problems = validateStatement(statement)
      const rule = problems.length === 0 ? (this.#options.refuses?.(statement) ?? null) : null
      if (rule !== null) problems.push(rule)
      if (ids.has(statement.id)) problems.push('the id is there twice')
      ids.add(statement.id)
      if (problems.length > 0) return [400, { index, problems }]
    }
    for (const statement of given) {
      const known = this.statements.get(statement.id)
      if (known !== undefined && !isDeepStrictEqual(known, statement)) return [409, { id: statement.id }]
    }
    if (given.some(({ id }) => this.statements.has(id)))
      return [409, { error: 'a statement is there already' }]
    for (const statement of given) this.statements.set(statement.id, statement)
    return [200, [...ids]]
  }

  #takeCaliper(content: unknown): [number, unknown] {
    if (!this.#isEnvelope(content)) return [400, this.#isEnvelope.errors]
    const { data } = content as { data: ({ id: string } & Record<string, unknown>)[] }
    this.sizes.push(data.length)
    for (const event of data) this.caliperEvents.set(event.id, event)
    return [200, {}]
  }
}
