import { useSearch } from '@tanstack/react-router'
import { session } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import { lettersOf, markChanges } from '../../charts/marks.ts'
import { defaultRange, rangeMs } from '../../frame/time-range.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { countOf } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { AttentionList } from './attention-list.tsx'
import { ChangesCard } from './changes-card.tsx'
import { DemoCard } from './demo-card.tsx'
import { EndpointsCard } from './endpoints-card.tsx'
import { FirstEvent } from './first-event.tsx'
import { Totals } from './totals.tsx'
import { TrafficCharts } from './traffic-charts.tsx'

/** What is wrong, since when, and what to do. */
export function OverviewPage() {
  const overview = useApi('overview.get', {}, { topics: ['traffic', 'letters', 'changes'] })
  const { range = defaultRange } = useSearch({ strict: false })
  const statistics = useApi('statistics.site', { query: { window: range } }, { pollMs: 15_000 })
  const marks = markChanges(overview.data?.changes ?? [], rangeMs[range])
  const attention = overview.data?.attention ?? []
  const needed = attention.filter(({ recovers }) => !recovers).length
  return (
    <>
      <PageTitle
        title="Overview"
        count={needed}
        hint={overview.data === undefined ? undefined : summary(needed, attention.length - needed)}
      />
      <Loaded of={overview} bones={6}>
        {(data) => (
          <>
            {data.endpoints.length <= 1 && <FirstEvent endpoints={data.endpoints.map(({ name }) => name)} />}
            {session.isDemoOffered && <DemoCard />}
            <AttentionList attention={data.attention} />
            <Totals overview={data} statistics={statistics.data} />
            <Loaded of={statistics}>
              {(traffic) => (
                <TrafficCharts statistics={traffic} spanMs={rangeMs[range]} marks={lettersOf(marks)} />
              )}
            </Loaded>
            <div className="columns lg:grid-cols-[minmax(0,5fr)_minmax(0,7fr)]">
              <ChangesCard marks={marks} />
              <EndpointsCard endpoints={data.endpoints} />
            </div>
          </>
        )}
      </Loaded>
    </>
  )
}

function summary(needed: number, recovering: number): string {
  if (needed + recovering === 0) return 'All is well'
  const parts = []
  if (needed > 0) parts.push(`${countOf(needed, 'problem')} ${needed === 1 ? 'needs' : 'need'} action`)
  if (recovering > 0) parts.push(`${recovering} ${recovering === 1 ? 'recovers' : 'recover'} on their own`)
  return parts.join(', ').replace('1 recovers on their own', '1 recovers on its own')
}
