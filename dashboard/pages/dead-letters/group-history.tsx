import { Link } from '@tanstack/react-router'
import { may } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import { Note } from '../../parts/note.tsx'
import { formatSpan } from '../../parts/numbers.ts'
import { Time } from '../../parts/time.tsx'
import { changeWords } from '../overview/change-words.ts'

/** Only a change at most so long before counts: it states times, not guilt. */
const beforeMs = 5 * 60_000
/** What makes an endpoint behave differently. That it was paused or resumed only says when deliveries went on. */
const endpointChanges: ReadonlySet<string> = new Set([
  'endpoint.created',
  'endpoint.updated',
  'endpoint.secret_rotated',
])

/** What changed right before a group of letters began. */
export function GroupHistory({
  endpoint,
  firstSeenAt,
}: {
  readonly endpoint: string | null
  readonly firstSeenAt: string
}) {
  const routes = useApi(
    'routes.list',
    { query: { endpoint: endpoint ?? '' } },
    { enabled: endpoint !== null },
  )
  const audit = useApi(
    'access.audit',
    { query: { limit: 500 } },
    { topics: ['changes'], enabled: may('administer') },
  )
  if (endpoint === null || audit.data === undefined || routes.data === undefined) return null
  const subjects = new Set([`endpoint:${endpoint}`, ...routes.data.data.map(({ name }) => `route:${name}`)])
  const firstMs = Date.parse(firstSeenAt)
  const change = audit.data.data.find(
    ({ at, subject, action }) =>
      subjects.has(subject) &&
      (subject.startsWith('route:') || endpointChanges.has(action)) &&
      Date.parse(at) <= firstMs &&
      Date.parse(at) > firstMs - beforeMs,
  )
  if (change === undefined) return null
  const [kind, name = ''] = change.subject.split(':')
  return (
    <Note
      tone="warn"
      icon="info"
      lead={
        <>
          It began {formatSpan(firstMs - Date.parse(change.at))} after this:{' '}
          {changeWords(change.action, change.subject)} at <Time at={change.at} />, by {change.actor}.
        </>
      }
      actions={
        kind === 'route' ? (
          <Link to="/routes/$name" params={{ name }} className="button">
            Open route
          </Link>
        ) : undefined
      }
    />
  )
}
