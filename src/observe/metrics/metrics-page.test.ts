import { describe, expect, it } from 'vitest'
import type { AttemptOutcome } from '../../core/delivery/attempt.ts'
import { gaugeKeys, metricCatalogue } from './catalogue.ts'
import { type ClusterGauge, MetricsPage } from './metrics-page.ts'
import { NodeMetrics } from './node-metrics.ts'

const success: AttemptOutcome = { class: 'success', isHealthFailure: false, durationMs: 20 }

function page(readGauges: () => Promise<readonly ClusterGauge[]>) {
  const node = new NodeMetrics()
  const clock = { nowMs: 0 }
  return { node, clock, page: new MetricsPage({ own: node, readGauges, nowMs: () => clock.nowMs }) }
}

const linesOf = (body: string, name: string) => body.split('\n').filter((line) => line.startsWith(name))

describe('the metrics page', () => {
  it('shows attempts by class and transport, and their durations in seconds', async () => {
    const { node, page: metrics } = page(() => Promise.resolve([]))
    node.attempted({ transport: 'http', awaitedSinceMs: 1000 }, success, 1400)
    node.attempted({ transport: 'http', awaitedSinceMs: 1000 }, { ...success, class: 'retryable' }, 1400)
    const { body, contentType } = await metrics.render()
    expect(contentType).toContain('text/plain; version=0.0.4')
    expect(linesOf(body, 'holdfast_attempts_total{')).toEqual([
      'holdfast_attempts_total{transport="http",class="success"} 1',
      'holdfast_attempts_total{transport="http",class="retryable"} 1',
    ])
    expect(body).toContain('holdfast_attempt_duration_seconds_bucket{le="0.01"} 0')
    expect(body).toContain('holdfast_attempt_duration_seconds_bucket{le="0.025"} 2')
    expect(body).toContain('holdfast_attempt_duration_seconds_bucket{le="+Inf"} 2')
    expect(body).toContain('holdfast_attempt_duration_seconds_sum 0.04')
    // Only the one that succeeded has arrived.
    expect(body).toContain('holdfast_delivery_latency_seconds_bucket{le="0.25"} 0')
    expect(body).toContain('holdfast_delivery_latency_seconds_bucket{le="0.5"} 1')
    expect(body).toContain('holdfast_delivery_latency_seconds_count 1')
  })

  it('counts what is beyond the last bound as infinite only', async () => {
    const { node, page: metrics } = page(() => Promise.resolve([]))
    node.attempted({ transport: 'http', awaitedSinceMs: 0 }, { ...success, durationMs: 120_000 }, 0)
    const { body } = await metrics.render()
    expect(body).toContain('holdfast_attempt_duration_seconds_bucket{le="60"} 0')
    expect(body).toContain('holdfast_attempt_duration_seconds_bucket{le="+Inf"} 1')
  })

  it('tells a shard that was free, or its own, from one of a dead node', async () => {
    const { node, page: metrics } = page(() => Promise.resolve([]))
    node.shardsTaken([1, 2], 0, 7)
    node.shardsTaken([1, 2], 7, 7)
    node.shardsTaken([1, 2, 3], 5, 7)
    expect((await metrics.render()).body).toContain('holdfast_shard_takeovers_total 3')
  })

  it('asks the database once for many scrapes, and again later', async () => {
    let reads = 0
    const { clock, page: metrics } = page(() => {
      reads += 1
      return Promise.resolve([{ metric: 'backlog', labels: {}, value: reads }])
    })
    await Promise.all([metrics.render(), metrics.render(), metrics.render()])
    expect(reads).toBe(1)
    clock.nowMs = 4999
    expect((await metrics.render()).body).toContain('holdfast_backlog 1')
    clock.nowMs = 6000
    expect((await metrics.render()).body).toContain('holdfast_backlog 2')
  })

  it('says that the database is away, and shows what it knows without it', async () => {
    let isAway = true
    const { node, page: metrics } = page(() =>
      isAway
        ? Promise.reject(new Error('away'))
        : Promise.resolve([{ metric: 'backlog', labels: {}, value: 3 }]),
    )
    node.settled(12)
    const { body } = await metrics.render()
    expect(body).toContain('holdfast_database_up 0')
    expect(body).toContain('holdfast_settle_batch_size_count 1')
    expect(body).not.toContain('holdfast_backlog')
    isAway = false
    expect((await metrics.render()).body).toMatch(/holdfast_backlog 3[^]*holdfast_database_up 1/)
  })

  it("escapes an endpoint's name, whatever it is", async () => {
    const { page: metrics } = page(() =>
      Promise.resolve([{ metric: 'circuit_state', labels: { endpoint: 'a"b\\c\nd' }, value: 2 }]),
    )
    expect((await metrics.render()).body).toContain('holdfast_circuit_state{endpoint="a\\"b\\\\c\\nd"} 2')
  })

  it('has a help text for every metric, and counts in the units that its name says', () => {
    for (const [name, { type, help }] of Object.entries(metricCatalogue)) {
      expect(help).toMatch(/^[A-Z].*\.$/)
      expect(name.endsWith('_total')).toBe(type === 'counter')
      if (/duration|latency|oldest/.test(name)) expect(name).toMatch(/_seconds$/)
    }
    expect(gaugeKeys).toContain('workers')
  })
})
