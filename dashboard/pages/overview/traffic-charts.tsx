import type { Answer } from '../../api/call.ts'
import { ChartCard } from '../../charts/lazy-chart.tsx'
import { serverNowMs } from '../../live/server-clock.ts'
import { formatCount, formatDuration, formatRate } from '../../parts/numbers.ts'

type Statistics = Answer<'statistics.site'>
type Step = Statistics['series'][number]

export interface TrafficMarks {
  readonly statistics: Statistics
  readonly spanMs: number
  readonly marks: readonly { readonly at: string; readonly letter: string }[]
}

/** How much came in and went out, how long that took, and what waits; what was changed is marked in each. */
export function TrafficCharts(traffic: TrafficMarks) {
  return (
    <div className="columns lg:grid-cols-3">
      <Throughput {...traffic} />
      <Latency {...traffic} />
      <Waiting {...traffic} />
    </div>
  )
}

/** A step that has hardly begun says nothing yet. */
const minShareOfStep = 0.2

/** Per second. The last step isn't over: what was counted in it is divided by the time that it has lasted. */
export function perSecond(
  { series, stepMs }: Statistics,
  of: (step: Step) => number | null,
): readonly (number | null)[] {
  const nowMs = serverNowMs()
  return series.map((step) => {
    const lastedMs = Math.min(stepMs, nowMs - Date.parse(step.at))
    const count = of(step)
    if (count === null || lastedMs < minShareOfStep * stepMs) return null
    return count / (lastedMs / 1000)
  })
}

export function lastOf(values: readonly (number | null)[]): number | null {
  return values.findLast((value) => value !== null) ?? null
}

/** Events of a step are counted when each of its minutes is over: of the last step that isn't over, only a part is known. */
export function acceptedPerSecond(statistics: Statistics): readonly (number | null)[] {
  const nowMs = serverNowMs()
  return perSecond(statistics, ({ at, accepted }) =>
    Date.parse(at) + statistics.stepMs > nowMs ? null : accepted,
  )
}

function Throughput({ statistics, spanMs, marks }: TrafficMarks) {
  const { series, accepted, delivered, failed } = statistics
  const values = {
    accepted: acceptedPerSecond(statistics),
    delivered: perSecond(statistics, (step) => step.delivered),
    failed: perSecond(statistics, (step) => step.failed),
  }
  return (
    <ChartCard
      title="Throughput"
      hint="per second"
      sentence={`${formatCount(accepted)} events accepted, ${formatCount(delivered)} deliveries made, ${formatCount(failed)} attempts failed.`}
      at={series.map(({ at }) => at)}
      spanMs={spanMs}
      marks={marks}
      series={[
        {
          name: 'Accepted',
          colour: 'series-2',
          dash: [5, 3],
          values: values.accepted,
          readout: formatRate(lastOf(values.accepted)),
        },
        {
          name: 'Delivered',
          colour: 'accent',
          isFilled: true,
          values: values.delivered,
          readout: formatRate(lastOf(values.delivered)),
        },
        {
          name: 'Failed',
          colour: 'bad',
          dash: [2, 2],
          values: values.failed,
          readout: formatRate(lastOf(values.failed)),
        },
      ]}
    />
  )
}

function Latency({ statistics, spanMs, marks }: TrafficMarks) {
  const { series, latencyMs } = statistics
  const readout = (value: number | null): string => (value === null ? '–' : formatDuration(value))
  const line = (name: 'p50' | 'p95' | 'p99') => series.map((step) => step.latencyMs[name])
  return (
    <ChartCard
      title="Latency"
      hint="accepted to delivered"
      sentence={`Half of the deliveries took at most ${readout(latencyMs.p50)}, 95 % at most ${readout(latencyMs.p95)}, 99 % at most ${readout(latencyMs.p99)}.`}
      at={series.map(({ at }) => at)}
      spanMs={spanMs}
      marks={marks}
      unit="ms"
      series={[
        { name: 'p50', colour: 'accent', values: line('p50'), readout: readout(lastOf(line('p50'))) },
        {
          name: 'p95',
          colour: 'accent',
          dash: [5, 3],
          values: line('p95'),
          readout: readout(lastOf(line('p95'))),
        },
        {
          name: 'p99',
          colour: 'series-2',
          dash: [2, 2],
          values: line('p99'),
          readout: readout(lastOf(line('p99'))),
        },
      ]}
    />
  )
}

function Waiting({ statistics, spanMs, marks }: TrafficMarks) {
  const backlog = statistics.series.map((step) => step.backlog)
  const most = Math.max(0, ...backlog.map((value) => value ?? 0))
  const last = lastOf(backlog)
  const now = last === null ? '–' : formatCount(last)
  return (
    <ChartCard
      title="Waiting"
      hint="deliveries owed"
      sentence={`${now} deliveries wait; the most at one time were ${formatCount(most)}.`}
      at={statistics.series.map(({ at }) => at)}
      spanMs={spanMs}
      marks={marks}
      series={[{ name: 'All', colour: 'accent', isFilled: true, values: backlog, readout: now }]}
    />
  )
}
