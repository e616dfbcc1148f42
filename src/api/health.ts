import type { FastifyInstance } from 'fastify'

export interface ReadinessReport {
  readonly database: 'ok' | 'unavailable'
  readonly migrations: 'ok' | 'pending' | 'unknown'
  readonly isStopping: boolean
}

export interface Readiness {
  report(): Promise<ReadinessReport>
}

/** The two calls that need no key. They say nothing but how we are. */
export function registerHealth(app: FastifyInstance, readiness: Readiness): void {
  app.get('/livez', async () => ({ status: 'alive' }))
  app.get('/readyz', async (_request, reply) => {
    const report = await readiness.report()
    const isReady = report.database === 'ok' && report.migrations === 'ok' && !report.isStopping
    if (!isReady) reply.code(503).header('retry-after', 1)
    return { status: isReady ? 'ready' : 'not_ready', ...report }
  })
}
