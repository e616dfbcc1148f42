import { Link } from '@tanstack/react-router'
import { type ItemOf, useApi } from '../../api/use-api.ts'
import { Loaded } from '../../parts/loaded.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { visibleText } from '../../parts/visible-text.ts'

type Delivery = ItemOf<'deliveries.list'>

const shown = 8
const topics = ['traffic', 'letters'] as const

/**
 * The last attempts at this endpoint. Newest deliveries have them while all is well; while it fails, those that wait for their next attempt do, and the
 * newest have none yet.
 */
export function LastAttempts({ name }: { readonly name: string }) {
  const newest = useApi('deliveries.list', { query: { endpoint: name, limit: 30 } }, { topics })
  const retried = useApi(
    'deliveries.list',
    { query: { endpoint: name, limit: 30, sort: 'next_attempt' } },
    { topics, enabled: newest.data !== undefined && lastOf(newest.data.data).length < shown },
  )
  return (
    <section className="card" aria-label="Last attempts">
      <header>
        <h2>Last attempts</h2>
        <Link to="/deliveries" search={{ endpoint: name }} className="ml-auto">
          All deliveries
        </Link>
      </header>
      <Loaded of={newest}>
        {({ data }) => <AttemptRows deliveries={lastOf([...data, ...(retried.data?.data ?? [])])} />}
      </Loaded>
    </section>
  )
}

function lastOf(deliveries: readonly Delivery[]): readonly Delivery[] {
  const known = new Map(deliveries.map((delivery) => [delivery.id, delivery]))
  return [...known.values()]
    .filter(({ attempt, lastAttemptAt }) => attempt > 0 && lastAttemptAt !== null)
    .sort((one, other) => Date.parse(String(other.lastAttemptAt)) - Date.parse(String(one.lastAttemptAt)))
    .slice(0, shown)
}

function AttemptRows({ deliveries }: { readonly deliveries: readonly Delivery[] }) {
  if (deliveries.length === 0)
    return <p className="body quiet">No attempt at any of the newest deliveries.</p>
  return (
    <ul className="attempts">
      {deliveries.map(({ id, state, attempt, statusCode, lastAttemptAt, error, errorCode }) => (
        <li key={id}>
          <State kind="delivery" value={state} />
          <span className="cut text" title={visibleText(error ?? '')}>
            {statusCode ?? errorCode?.replaceAll('_', ' ') ?? ''}
          </span>
          <Link to="/deliveries/$id" params={{ id }}>
            {attempt === 1 ? 'first attempt' : `attempt ${attempt}`}
            <span className="vh"> of {id}</span>
          </Link>
          <span className="quiet">
            <Time at={lastAttemptAt} />
          </span>
        </li>
      ))}
    </ul>
  )
}
