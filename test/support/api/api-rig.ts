import { inspect } from 'node:util'
import { Authenticator } from '../../../src/api/access/authenticator.ts'
import { ApiServer } from '../../../src/api/api-server.ts'
import type { ClientPatience } from '../../../src/api/create-api.ts'
import type { Role } from '../../../src/core/access/roles.ts'
import { type Logger, silentLogger } from '../../../src/engine/logger.ts'
import { Holdfast } from '../../../src/sdk/holdfast.ts'
import type { HoldfastOptions } from '../../../src/sdk/holdfast-options.ts'
import { createTestDatabase, type TestDatabase } from '../test-database.ts'

export interface ApiAnswer {
  readonly status: number
  readonly headers: Headers
  // oxlint-disable-next-line typescript/no-explicit-any -- tests look into what comes, field by field
  readonly body: any
  /** The body as it came: parsing it loses digits. */
  readonly text: string
}

export interface CallOptions {
  readonly key?: string | null
  readonly headers?: Record<string, string>
  /** Sent as it is when it is text, else as JSON. */
  readonly body?: unknown
}

export interface ApiRigOptions extends Partial<HoldfastOptions> {
  readonly patience?: ClientPatience
  readonly trustedProxies?: readonly string[]
  readonly traceUrl?: string
  /** Left out: one of its own on the server that all tests share. */
  readonly database?: TestDatabase
}

/** The API on a database of its own, and somebody who calls it. */
export class ApiRig {
  readonly database: TestDatabase
  readonly holdfast: Holdfast
  readonly server: ApiServer
  readonly authenticator: Authenticator
  readonly complaints: string[]
  #adminKey = ''

  private constructor(
    database: TestDatabase,
    { patience, trustedProxies = [], traceUrl, ...options }: Omit<ApiRigOptions, 'database'>,
  ) {
    this.database = database
    this.complaints = []
    this.holdfast = new Holdfast({ databaseUrl: database.url, maxConnections: 8, actor: 'test', ...options })
    const databaseOf = () => this.holdfast.database
    this.authenticator = new Authenticator({ database: databaseOf, adminKey: null })
    const error: Logger['error'] = (details, message) => {
      this.complaints.push(`${message} ${inspect((details as { error?: unknown }).error)}`)
    }
    this.server = new ApiServer({
      holdfast: this.holdfast,
      database: databaseOf,
      authenticator: this.authenticator,
      logger: { ...silentLogger, error },
      host: '127.0.0.1',
      port: 0,
      trustedProxies,
      demo: new MadeUpDemo(),
      ...(traceUrl !== undefined && { traceUrl }),
      ...(patience !== undefined && { patience }),
    })
  }

  static async create({ database, ...options }: ApiRigOptions = {}): Promise<ApiRig> {
    const rig = new ApiRig(database ?? (await createTestDatabase({ maxConnections: 30 })), options)
    rig.#adminKey = await rig.keyOf('admin')
    await rig.server.start()
    return rig
  }

  async keyOf(role: Role): Promise<string> {
    return (await this.holdfast.apiKeys.create({ name: `${role}-${Math.random()}`, role })).key
  }

  get adminKey(): string {
    return this.#adminKey
  }

  /** As an admin, unless told otherwise. */
  async call(method: string, path: string, options: CallOptions = {}): Promise<ApiAnswer> {
    const { key = this.#adminKey, headers = {}, body } = options
    const response = await fetch(`${this.server.url}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(key !== null && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    })
    const text = await response.text()
    const isJson = /json/.test(response.headers.get('content-type') ?? '')
    return {
      status: response.status,
      headers: response.headers,
      body: isJson ? JSON.parse(text) : text,
      text,
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
  }

  async stop(): Promise<void> {
    await this.server.stop()
    await this.holdfast.stop()
    await this.database.drop()
  }
}

/** As far as the API can tell, a demo. */
class MadeUpDemo {
  isRunning = false

  async start(): Promise<void> {
    this.isRunning = true
  }

  async stop(): Promise<void> {
    this.isRunning = false
  }
}
