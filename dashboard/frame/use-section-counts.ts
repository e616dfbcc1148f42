import { may } from '../api/session.ts'
import { useApi } from '../api/use-api.ts'
import type { SectionCount } from './navigation.tsx'

/** A count stands beside a section only when something there needs action. Traffic alone changes none; what only the clock changes is polled. */
export function useSectionCounts(): Readonly<Record<string, SectionCount>> {
  const { data } = useApi(
    'overview.get',
    {},
    { topics: ['letters', 'changes'], pollMs: 10_000, enabled: may('read') },
  )
  if (data === undefined) return {}
  const of = (...kinds: readonly string[]): number =>
    data.attention.filter(({ kind, recovers }) => !recovers && kinds.includes(kind)).length
  const count = (value: number, tone: SectionCount['tone']): SectionCount => ({ value, tone })
  return {
    '/dead-letters': count(data.totals.deadLetters, 'bad'),
    '/endpoints': count(of('circuit_open', 'rejecting', 'endpoint_disabled', 'failure_rate'), 'bad'),
    '/jobs': count(of('job_disabled', 'job_unhandled'), 'bad'),
    '/sources': count(of('source_disconnected'), 'bad'),
    '/workers': count(of('worker_lost'), 'warn'),
    '/alerts': count(data.firingAlerts, 'bad'),
    '/system': count(
      of('partition_upkeep', 'maintenance_failing', 'disk_low', 'node_lost', 'quarantine'),
      'warn',
    ),
  }
}
