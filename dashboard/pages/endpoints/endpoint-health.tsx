import { useSearch } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { useApi } from '../../api/use-api.ts'
import { ChartCard } from '../../charts/lazy-chart.tsx'
import { defaultRange, rangeMs, rangeNames } from '../../frame/time-range.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { countOf, formatCount, formatDuration, formatPercent, formatSpan } from '../../parts/numbers.ts'
import { Answers } from './answer-mix.tsx'
import { CircuitCard } from './circuit-card.tsx'
import { LastAttempts } from './last-attempts.tsx'

export function EndpointHealth({
  endpoint,
  health,
}: {
  readonly endpoint: Answer<'endpoints.get'>
  readonly health: Answer<'endpoints.health'>
}) {
  const { range = defaultRange } = useSearch({ strict: false })
  const statistics = useApi(
    'statistics.endpoint',
    { params: { name: endpoint.name }, query: { window: range } },
    { pollMs: 15_000 },
  )
  return (
    <Loaded of={statistics}>
      {(data) => (
        <>
          <Stats endpoint={endpoint} health={health} statistics={data} span={rangeNames[range]} />
          <div className="columns lg:grid-cols-2">
            <AttemptsChart statistics={data} spanMs={rangeMs[range]} />
            <LatencyChart statistics={data} spanMs={rangeMs[range]} />
          </div>
          <div className="columns lg:grid-cols-2">
            <BacklogChart statistics={data} spanMs={rangeMs[range]} pending={health.pending} />
            <CircuitCard name={endpoint.name} state={health.circuit.state} />
          </div>
          <div className="columns lg:grid-cols-2">
            <Answers statistics={data} span={rangeNames[range]} />
            <LastAttempts name={endpoint.name} />
          </div>
        </>
      )}
    </Loaded>
  )
}

type Statistics = Answer<'statistics.endpoint'>

function Stats({
  endpoint,
  health,
  statistics,
  span,
}: {
  readonly endpoint: Answer<'endpoints.get'>
  readonly health: Answer<'endpoints.health'>
  readonly statistics: Statistics
  readonly span: string
}) {
  const { limits, retry, config } = endpoint
  const { timeoutMs } = config
  const p95 = statistics.latencyMs.p95
  const stats = [
    [
      `Success, ${span}`,
      statistics.successRate === null ? '–' : formatPercent(statistics.successRate),
      countOf(statistics.attempts, 'attempt'),
    ],
    [
      `p95, ${span}`,
      p95 === null ? '–' : formatDuration(p95),
      timeoutMs > 0 ? `timeout after ${formatSpan(timeoutMs)}` : '',
    ],
    ['In flight', formatCount(health.inFlight), `of ${formatCount(limits.concurrency)} at once`],
    ['Waiting', formatCount(health.pending), `of ${formatCount(limits.maxPending)} allowed`],
    [
      'Oldest due',
      health.oldestDueMs < 1000 ? '–' : formatSpan(health.oldestDueMs),
      `gives up after ${formatSpan(retry.giveUpAfterMs)}`,
    ],
    ['Dead letters', formatCount(health.deadLetters), 'open'],
  ] as const
  return (
    <section className="card stats" aria-label="Now">
      {stats.map(([name, value, hint]) => (
        <div key={name}>
          <div className="name">{name}</div>
          <div className="value">{value}</div>
          <div className="hint cut">{hint}</div>
        </div>
      ))}
    </section>
  )
}

function AttemptsChart({ statistics, spanMs }: { readonly statistics: Statistics; readonly spanMs: number }) {
  const { series, attempts, successes } = statistics
  return (
    <ChartCard
      title="Attempts"
      hint="per step"
      sentence={`${countOf(attempts, 'attempt')}, ${formatCount(attempts - successes)} of them failed.`}
      at={series.map(({ at }) => at)}
      spanMs={spanMs}
      series={[
        {
          name: 'Succeeded',
          colour: 'accent',
          values: series.map(({ successes }) => successes),
          readout: formatCount(successes),
        },
        {
          name: 'Failed',
          colour: 'bad',
          dash: [4, 3],
          values: series.map(({ attempts, successes }) => attempts - successes),
          readout: formatCount(attempts - successes),
        },
      ]}
    />
  )
}

function LatencyChart({ statistics, spanMs }: { readonly statistics: Statistics; readonly spanMs: number }) {
  const { series, latencyMs } = statistics
  const line = (name: 'p50' | 'p95' | 'p99', colour: 'accent' | 'series-2', dash?: readonly number[]) => ({
    name,
    colour,
    ...(dash !== undefined && { dash }),
    values: series.map((step) => step.latencyMs[name]),
    readout: latencyMs[name] === null ? '–' : formatDuration(latencyMs[name]),
  })
  return (
    <ChartCard
      title="Latency"
      hint="of one attempt, ms"
      sentence={`Half of the attempts took less than ${latencyMs.p50 ?? 0} ms, 95 % less than ${latencyMs.p95 ?? 0} ms.`}
      at={series.map(({ at }) => at)}
      spanMs={spanMs}
      series={[line('p50', 'accent'), line('p95', 'accent', [4, 3]), line('p99', 'series-2', [1.5, 2.5])]}
    />
  )
}

function BacklogChart({
  statistics,
  spanMs,
  pending,
}: {
  readonly statistics: Statistics
  readonly spanMs: number
  readonly pending: number
}) {
  const { backlog } = statistics
  const most = Math.max(0, ...backlog.map((step) => step.pending))
  return (
    <ChartCard
      title="Backlog"
      hint="deliveries that waited, the most of each step"
      sentence={`At most ${countOf(most, 'delivery', 'deliveries')} waited, now ${formatCount(pending)}.`}
      at={backlog.map(({ at }) => at)}
      spanMs={spanMs}
      series={[
        {
          name: 'Waiting',
          colour: 'accent',
          values: backlog.map((step) => step.pending),
          readout: formatCount(pending),
        },
      ]}
    />
  )
}
