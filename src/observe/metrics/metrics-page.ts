import { Registry } from 'prom-client'
import { gaugeKeys, type MetricKey, metricName, metricPrefix } from './catalogue.ts'
import { PlainGauge } from './plain-metrics.ts'

/** A value of the whole cluster; its name is without the prefix. */
export interface ClusterGauge {
  readonly metric: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

export interface MetricsPageOptions {
  /** The metrics that this process counts itself. */
  readonly own: { registerTo(registry: Registry): void }
  /** The gauges to show; default: all of the cluster's. */
  readonly gauges?: readonly MetricKey[]
  /** Reads the gauges from the database. */
  readonly readGauges: () => Promise<readonly ClusterGauge[]>
  readonly nowMs: () => number
}

/** The database is queried at most once in this time, however many scrapers there are. */
const cacheMs = 5000
/** A scrape times out after about ten seconds: a page without the cluster's gauges is better than none. */
const patienceMs = 3000

/** The metrics in Prometheus text format. */
export class MetricsPage {
  readonly #options: MetricsPageOptions
  readonly #registry = new Registry()
  readonly #gauges = new Map<string, PlainGauge>()
  readonly #isUp = new PlainGauge(metricName('database_up'))
  #reading: Promise<readonly ClusterGauge[] | null> | null = null
  #readAtMs = Number.NEGATIVE_INFINITY

  constructor(options: MetricsPageOptions) {
    this.#options = options
    options.own.registerTo(this.#registry)
    for (const key of options.gauges ?? gaugeKeys) {
      const gauge = new PlainGauge(metricName(key))
      gauge.registerTo(this.#registry)
      this.#gauges.set(key, gauge)
    }
    this.#isUp.registerTo(this.#registry)
  }

  /** `known`: gauges that need no query. */
  async render(known: readonly ClusterGauge[] = []): Promise<{ contentType: string; body: string }> {
    const gauges = await this.#read()
    this.#isUp.set([{ value: gauges === null ? 0 : 1, labels: {} }])
    for (const [key, gauge] of this.#gauges) {
      gauge.set([...known, ...(gauges ?? [])].filter(({ metric }) => metric === key))
    }
    const body = await this.#registry.metrics()
    return { contentType: this.#registry.contentType, body: withoutEmptyMetrics(body) }
  }

  /** Returns null if the database didn't answer in time. */
  async #read(): Promise<readonly ClusterGauge[] | null> {
    const { nowMs } = this.#options
    if (this.#reading === null || nowMs() - this.#readAtMs > cacheMs) {
      this.#readAtMs = nowMs()
      this.#reading = this.#options.readGauges().catch(() => {
        this.#readAtMs = Number.NEGATIVE_INFINITY
        return null
      })
    }
    let timer: NodeJS.Timeout | undefined
    const expired = new Promise<null>((resolve) => {
      timer = setTimeout(() => resolve(null), patienceMs)
    })
    try {
      return await Promise.race([this.#reading, expired])
    } finally {
      clearTimeout(timer)
    }
  }
}

/** Removes metrics without a value. */
function withoutEmptyMetrics(body: string): string {
  const blocks = body.trimEnd().split('\n\n')
  return `${blocks.filter((block) => block.split('\n').some((line) => line.startsWith(metricPrefix))).join('\n')}\n`
}
