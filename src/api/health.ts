import type { FastifyInstance, FastifyRequest } from 'fastify'
import { HoldfastError } from '../core/errors.ts'

export interface ReadinessReport {
  readonly database: 'ok' | 'unavailable'
  readonly migrations: 'ok' | 'pending' | 'unknown'
  readonly isStarting: boolean
  readonly isStopping: boolean
  /** What is wrong, for people; without addresses, because no key is needed to read it. Null if nothing is wrong. */
  readonly reason: string | null
}

export interface Readiness {
  /** False until the node has started: then only `/livez` and `/readyz` are answered. */
  readonly isOpen: boolean
  report(): Promise<ReadinessReport>
}

const healthPaths: ReadonlySet<string> = new Set(['/livez', '/readyz'])

export function isHealthCheck(request: FastifyRequest): boolean {
  return healthPaths.has(request.routeOptions.url ?? '')
}

/** Runs before authentication, which needs the database. */
export function refuseUntilOpen(app: FastifyInstance, readiness: Readiness): void {
  app.addHook('onRequest', async (request) => {
    if (readiness.isOpen || isHealthCheck(request)) return
    throw new HoldfastError(
      'starting',
      'This node is starting and does not accept requests yet. Try again; GET /readyz says what it waits for.',
    )
  })
}

/** The two calls that need no key. They reveal nothing but the state of the node. */
export function registerHealth(app: FastifyInstance, readiness: Readiness): void {
  app.get('/livez', async () => ({ status: 'alive' }))
  app.get('/readyz', async (_request, reply) => {
    const report = await readiness.report()
    const isReady = report.reason === null
    if (!isReady) reply.code(503).header('retry-after', 1)
    return { status: isReady ? 'ready' : 'not_ready', ...report }
  })
}
