import type { Answer } from '../../api/call.ts'
import { ChartCard } from '../../charts/lazy-chart.tsx'
import { serverNowMs } from '../../live/server-clock.ts'
import { formatCount, formatDuration, formatRate } from '../../parts/numbers.ts'
import { acceptedPerSecond, lastOf, perSecond } from './rates.ts'

type Statistics = Answer<'statistics.site'>

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

function Throughput({ statistics, spanMs, marks }: TrafficMarks) {
  const { series, accepted, delivered, failed } = statistics
  const nowMs = serverNowMs()
  const values = {
    accepted: acceptedPerSecond(statistics, nowMs),
    delivered: perSecond(statistics, nowMs, (step) => step.delivered),
    failed: perSecond(statistics, nowMs, (step) => step.failed),
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
      hint="pending deliveries"
      sentence={`${now} deliveries wait; the most at one time were ${formatCount(most)}.`}
      at={statistics.series.map(({ at }) => at)}
      spanMs={spanMs}
      marks={marks}
      series={[{ name: 'All', colour: 'accent', isFilled: true, values: backlog, readout: now }]}
    />
  )
}
