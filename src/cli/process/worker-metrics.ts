import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { HoldfastError } from '../../core/errors.ts'
import type { JobWorker } from '../../jobs/worker.ts'
import { MetricsPage } from '../../observe/metrics/metrics-page.ts'
import { RunMetrics } from '../../observe/metrics/run-metrics.ts'
import { Holdfast } from '../../sdk/holdfast.ts'
import { readQueueGauges } from '../../storage/metrics.ts'
import { countWorkers } from '../../storage/workers.ts'

export interface WorkerMetricsOptions {
  /** Null: the worker has no database connection, and the page no gauges of the installation. */
  readonly databaseUrl: string | null
  readonly host: string
  readonly port: number
  /** Null while the worker waits for its database. */
  readonly worker: () => Pick<JobWorker, 'running' | 'isFenced'> | null
}

const requestTimeoutMs = 10_000

const installationGauges = [
  'workers',
  'queue_runs',
  'queue_oldest_due_seconds',
  'queue_dead_letters',
  'queue_unhandled_runs',
] as const

const paths: ReadonlySet<string> = new Set(['/metrics', '/livez', '/readyz'])

/** Endpoints of a worker for Prometheus and supervisors: `/metrics`, `/livez` and `/readyz`, without a key. */
export class WorkerMetrics {
  readonly runs = new RunMetrics()
  readonly #options: WorkerMetricsOptions
  readonly #holdfast: Holdfast | null
  readonly #page: MetricsPage
  readonly #server: Server

  constructor(options: WorkerMetricsOptions) {
    this.#options = options
    const { databaseUrl } = options
    this.#holdfast = databaseUrl === null ? null : new Holdfast({ databaseUrl })
    this.#page = new MetricsPage({
      own: this.runs,
      gauges: [...(databaseUrl === null ? [] : installationGauges), 'runs_in_progress'],
      readGauges: () => this.#readGauges(),
      nowMs: () => performance.now(),
    })
    this.#server = createServer({ requestTimeout: requestTimeoutMs }, (request, response) => {
      void this.#answer(request.method, request.url, response)
    })
  }

  /** Starts listening. Resolves to the address. */
  async start(): Promise<string> {
    const { host, port } = this.#options
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', (error) => reject(listenError(error, host, port)))
      this.#server.listen(port, host, resolve)
    })
    const { address, family, port: chosen } = this.#server.address() as AddressInfo
    return `http://${family === 'IPv6' ? `[${address}]` : address}:${chosen}`
  }

  async stop(): Promise<void> {
    this.#server.close()
    this.#server.closeAllConnections()
    await this.#holdfast?.stop()
  }

  async #readGauges() {
    if (this.#holdfast === null) return []
    const { database } = this.#holdfast
    const [workers, ofQueues] = await Promise.all([countWorkers(database), readQueueGauges(database)])
    return [{ metric: 'workers', labels: {}, value: workers }, ...ofQueues]
  }

  async #answer(method = '', url = '', response: ServerResponse): Promise<void> {
    const [path] = url.split('?')
    if (path === undefined || !paths.has(path)) return end(response, 404, 'text/plain', 'Not found.\n')
    if (method !== 'GET' && method !== 'HEAD') {
      response.setHeader('allow', 'GET, HEAD')
      return end(response, 405, 'text/plain', 'Only GET.\n')
    }
    if (path === '/livez') return end(response, 200, 'application/json', '{"status":"alive"}')
    const worker = this.#options.worker()
    if (path === '/readyz') return answerReady(response, worker)
    const { contentType, body } = await this.#page.render([
      { metric: 'runs_in_progress', labels: {}, value: worker?.running ?? 0 },
    ])
    end(response, 200, contentType, body)
  }
}

function answerReady(response: ServerResponse, worker: ReturnType<WorkerMetricsOptions['worker']>): void {
  const reason =
    worker === null
      ? 'The worker is waiting for its database or broker.'
      : worker.isFenced
        ? "The worker's heartbeats have not been recorded for too long, so it starts no runs."
        : null
  if (reason !== null) response.setHeader('retry-after', 1)
  const status = reason === null ? 'ready' : 'not_ready'
  end(response, reason === null ? 200 : 503, 'application/json', JSON.stringify({ status, reason }))
}

function end(response: ServerResponse, status: number, contentType: string, body: string): void {
  response.writeHead(status, { 'content-type': contentType, 'x-content-type-options': 'nosniff' }).end(body)
}

function listenError(error: NodeJS.ErrnoException, host: string, port: number): HoldfastError {
  return new HoldfastError(
    'configuration_invalid',
    `Can't serve metrics on ${host} port ${port} (${error.code}). Choose others with --metrics-host and --metrics-port.`,
    { host, port },
    error,
  )
}
