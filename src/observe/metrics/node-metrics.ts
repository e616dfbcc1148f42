import type { Registry } from 'prom-client'
import type { AttemptOutcome } from '../../core/delivery/attempt.ts'
import { metricName } from './catalogue.ts'
import { PlainCounter, PlainHistogram } from './plain-metrics.ts'
import { RunMetrics } from './run-metrics.ts'

/** The measured properties of a delivery. */
export interface MeasuredDelivery {
  readonly transport: string
  /** In database time, as precisely as known. */
  readonly awaitedSinceMs: number
}

export type DeliveryEnding = 'succeeded' | 'dead' | 'expired' | 'cancelled' | 'dropped' | 'skipped'

const durationBounds = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const latencyBounds = [
  0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300, 900, 3600, 21_600, 86_400,
]
const batchBounds = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000]

/** Metrics of this node's deliveries, in plain numbers. It is an observer of the engine: an attempt costs three additions. */
export class NodeMetrics {
  readonly #attempts = new PlainCounter(metricName('attempts_total'), ['transport', 'class'], [])
  readonly #deliveries = new PlainCounter(metricName('deliveries_total'), ['transport', 'outcome'], [])
  readonly #durations = new PlainHistogram(metricName('attempt_duration_seconds'), durationBounds)
  readonly #latencies = new PlainHistogram(metricName('delivery_latency_seconds'), latencyBounds)
  readonly #circuits = new PlainCounter(
    metricName('circuit_transitions_total'),
    ['to'],
    [['closed'], ['half_open'], ['open']],
  )
  readonly #runs = new RunMetrics()
  readonly #takeovers = new PlainCounter(metricName('shard_takeovers_total'))
  readonly #revivals = new PlainCounter(metricName('lanes_revived_total'))
  readonly #sources = new PlainCounter(metricName('source_messages_total'), ['source', 'outcome'], [])
  readonly #dispatched = new PlainCounter(metricName('broker_dispatched_total'))
  readonly #brokerLetters = new PlainCounter(
    metricName('broker_dead_letters_total'),
    ['outcome', 'reason'],
    [],
  )
  readonly #brokerLatencies = new PlainHistogram(
    metricName('broker_dead_letter_latency_seconds'),
    latencyBounds,
  )
  readonly #batches = new PlainHistogram(metricName('settle_batch_size'), batchBounds)

  registerTo(registry: Registry): void {
    for (const metric of [
      this.#deliveries,
      this.#attempts,
      this.#durations,
      this.#latencies,
      this.#circuits,
      this.#runs,
      this.#takeovers,
      this.#revivals,
      this.#sources,
      this.#dispatched,
      this.#brokerLetters,
      this.#brokerLatencies,
      this.#batches,
    ]) {
      metric.registerTo(registry)
    }
  }

  attempted(delivery: MeasuredDelivery, outcome: AttemptOutcome, nowMs: number): void {
    this.#attempts.add(1, delivery.transport, outcome.class)
    this.#durations.observe(outcome.durationMs / 1000)
    if (outcome.class === 'success')
      this.#latencies.observe(Math.max(0, nowMs - delivery.awaitedSinceMs) / 1000)
  }

  ended(ending: DeliveryEnding, transport: string, count: number): void {
    this.#deliveries.add(count, transport, ending)
    if (ending === 'dead') this.#runs.deadLetters.add(count)
  }

  settled(count: number): void {
    this.#batches.observe(count)
  }

  circuitChanged(_endpoint: string, to: 'closed' | 'half_open' | 'open'): void {
    this.#circuits.add(1, to)
  }

  laneRevived(): void {
    this.#revivals.add(1)
  }

  /** `from` is 0 if the shards were free, and the node's own number if it took back shards that it had forgotten. */
  shardsTaken(shards: readonly number[], from: number, me: number): void {
    if (from !== 0 && from !== me) this.#takeovers.add(shards.length)
  }

  sourceMessages(source: string, outcome: 'published' | 'rejected', count: number): void {
    this.#sources.add(count, source, outcome)
  }

  brokerDispatched(runs: number): void {
    this.#dispatched.add(runs)
  }

  brokerDeadLetter(outcome: string, reason: string, latencyMs: number): void {
    this.#brokerLetters.add(1, outcome, reason)
    this.#brokerLatencies.observe(latencyMs / 1000)
    if (outcome === 'failed') this.#runs.deadLetters.add(1)
  }

  interrupted(kind: 'delivery' | 'run', count: number): void {
    this.#runs.interrupted(kind, count)
  }

  runsRecovered(recovered: { readonly dead: number; readonly interrupted: number }): void {
    this.#runs.recovered(recovered)
  }

  runEnded(outcome: string, durationMs: number | null, job: string): void {
    this.#runs.ended(outcome, durationMs, job)
  }
}
