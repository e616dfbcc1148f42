import type { AddressInfo } from 'node:net'
import type { FastifyInstance } from 'fastify'
import { HoldfastError } from '../core/errors.ts'
import { describeConnectionError } from '../postgres/connection-error.ts'
import { queryWithDeadline } from '../postgres/deadline.ts'
import { assertSchema } from '../postgres/schema.ts'
import { listenError } from './assert-can-listen.ts'
import { type ApiOptions, createApi } from './create-api.ts'
import type { Readiness, ReadinessReport } from './health.ts'

export interface ApiServerOptions extends Omit<ApiOptions, 'readiness'> {
  readonly host: string
  /** 0: any free port. */
  readonly port: number
  /** True: calls are refused until `open()`, because the database may be unavailable or not migrated yet. */
  readonly opensLater?: boolean
}

const idleCheckMs = 100
/** A database that responds later than this is reported as unavailable, so that health checks don't wait indefinitely. */
const readinessDeadlineMs = 3000
/** Requests that take longer than this during a stop are aborted. */
const maxCallMs = 10_000

/** Serves the API. While it stops, `/readyz` reports it, and calls in progress are finished. */
export class ApiServer implements Readiness {
  readonly #options: ApiServerOptions
  #app: FastifyInstance | null = null
  #isOpen: boolean
  #isStopping = false
  #stopped: Promise<void> | null = null

  constructor(options: ApiServerOptions) {
    this.#options = options
    this.#isOpen = options.opensLater !== true
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** The node has started: calls are answered from now on. */
  open(): void {
    this.#isOpen = true
  }

  async start(): Promise<void> {
    if (this.#app !== null) return
    const { host, port } = this.#options
    this.#app = await createApi({ ...this.#options, readiness: this })
    try {
      await this.#app.listen({ host, port })
    } catch (error) {
      throw listenError(error as NodeJS.ErrnoException, host, port)
    }
  }

  get url(): string {
    const address = this.#app?.server.address() as AddressInfo | null | undefined
    if (address == null) throw new Error('the API server is not listening')
    const host = address.family === 'IPv6' ? `[${address.address}]` : address.address
    return `http://${host}:${address.port}`
  }

  /** From now on `/readyz` fails, so that load balancers send no new requests. */
  drain(): void {
    this.#isStopping = true
  }

  stop(): Promise<void> {
    this.drain()
    this.#stopped ??= this.#app === null ? Promise.resolve() : close(this.#app)
    return this.#stopped
  }

  async report(): Promise<ReadinessReport> {
    const state = { isStarting: !this.#isOpen, isStopping: this.#isStopping }
    try {
      const { pool } = this.#options.database()
      await assertSchema({ query: (text) => queryWithDeadline(pool, text, readinessDeadlineMs) })
      const { isStarting, isStopping } = state
      const reason = isStopping ? 'The node is stopping.' : isStarting ? 'The node is starting.' : null
      return { database: 'ok', migrations: 'ok', ...state, reason }
    } catch (error) {
      if (error instanceof HoldfastError && /^(not_migrated|schema_too_new)$/.test(error.code)) {
        return { database: 'ok', migrations: 'pending', ...state, reason: error.message }
      }
      const reason = `PostgreSQL can't be used: ${describeConnectionError(error)}.`
      return { database: 'unavailable', migrations: 'unknown', ...state, reason }
    }
  }
}

/** Finishes calls in progress, and closes each connection as soon as it is idle. */
async function close(app: FastifyInstance): Promise<void> {
  const idle = setInterval(() => app.server.closeIdleConnections(), idleCheckMs)
  const late = setTimeout(() => app.server.closeAllConnections(), maxCallMs)
  try {
    await app.close()
  } finally {
    clearInterval(idle)
    clearTimeout(late)
  }
}
