import type { Registry } from 'prom-client'
import { metricName } from './catalogue.ts'
import { PlainCounter, PlainHistogram } from './plain-metrics.ts'

const durationBounds = [0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600]

/** Metrics of this process's workers. */
export class RunMetrics {
  readonly #runs = new PlainCounter(metricName('runs_total'), ['job', 'outcome'], [])
  readonly #durations = new PlainHistogram(metricName('run_duration_seconds'), durationBounds, 'job')
  readonly #interrupted = new PlainCounter(
    metricName('interrupted_attempts_total'),
    ['kind'],
    [['delivery'], ['run']],
  )
  /** Also counts dead letters of a node's deliveries. */
  readonly deadLetters = new PlainCounter(metricName('dead_letters_total'))

  registerTo(registry: Registry): void {
    this.#runs.registerTo(registry)
    this.#durations.registerTo(registry)
    this.deadLetters.registerTo(registry)
    this.#interrupted.registerTo(registry)
  }

  /** `durationMs`: duration of the last attempt; null if the run ended without one. */
  ended(outcome: string, durationMs: number | null, job: string): void {
    this.#runs.add(1, job, outcome)
    if (outcome === 'dead') this.deadLetters.add(1)
    if (durationMs !== null) this.#durations.observe(durationMs / 1000, job)
  }

  interrupted(kind: 'delivery' | 'run', count: number): void {
    this.#interrupted.add(count, kind)
  }

  /** Runs of workers that died; some of them become dead letters here. */
  recovered({ dead, interrupted }: { readonly dead: number; readonly interrupted: number }): void {
    this.deadLetters.add(dead)
    this.interrupted('run', interrupted)
  }
}
