import { Link } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { countOf } from '../../parts/numbers.ts'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { visibleText } from '../../parts/visible-text.ts'
import { NextAttempt } from '../deliveries/next-attempt.tsx'
import type { Obstacles } from '../deliveries/obstacles.ts'
import { useObstacles } from '../deliveries/use-obstacles.ts'

type Event = Answer<'storedEvents.get'>
type Delivery = Event['deliveries'][number]

/** The event, the routes that wanted it, and what became of each delivery. */
export function FanOut({ event }: { readonly event: Event }) {
  const { deliveries } = event
  const obstacles = useObstacles()
  const routes = [...new Set(deliveries.map(({ route }) => route))]
  return (
    <section className="card" aria-label="Deliveries">
      <header>
        <h2>Deliveries</h2>
        <span className="hint">{summaryOf(deliveries)}</span>
      </header>
      {deliveries.length === 0 ? (
        <p className="body quiet">
          No route wanted it; it is kept. <Link to="/routes">Routes</Link> say who gets what.
        </p>
      ) : (
        <ul className="tree" aria-label="Routes and deliveries">
          {routes.map((route) => (
            <li key={route ?? ''}>
              <div className="branch">
                {route === null ? (
                  <span className="quiet">sent without a route</span>
                ) : (
                  <>
                    <span className="hint">route</span>{' '}
                    <Link to="/routes/$name" params={{ name: route }} className="name">
                      {route}
                    </Link>
                  </>
                )}
              </div>
              <ul>
                {deliveries
                  .filter((delivery) => delivery.route === route)
                  .map((delivery) => (
                    <Leaf key={delivery.id} delivery={delivery} obstacles={obstacles} />
                  ))}
              </ul>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function Leaf({ delivery, obstacles }: { readonly delivery: Delivery; readonly obstacles: Obstacles }) {
  const { id, endpoint, state, replayOf } = delivery
  return (
    <li className="leaf">
      <span className="cut">
        {endpoint === null ? (
          <span className="quiet">deleted since</span>
        ) : (
          <Link to="/endpoints/$name" params={{ name: endpoint }} className="name">
            {endpoint}
          </Link>
        )}
        {replayOf !== null && <span className="tag ml-2">replay</span>}
      </span>
      <State kind="delivery" value={state} />
      <span className="text line-clamp-1 quiet">{whatBecame(delivery, obstacles)}</span>
      <Link to="/deliveries/$id" params={{ id }} className="mono">
        {id}
      </Link>
    </li>
  )
}

/** What a person asks next: when again, or why not. */
function whatBecame(delivery: Delivery, obstacles: Obstacles) {
  const { state, attempt, endpoint, nextAttemptAt, lastAttemptAt, error, errorCode } = delivery
  const tries = countOf(attempt, 'attempt')
  const reason = error ?? errorCode?.replaceAll('_', ' ') ?? null
  if (state === 'skipped') return `not sent: ${visibleText(reason ?? 'its transform skips such events')}`
  if (state === 'succeeded') {
    return (
      <>
        {tries}, <Time at={lastAttemptAt} />
      </>
    )
  }
  if (state === 'pending') {
    return (
      <>
        {attempt > 0 && `${tries}, `}
        {nextAttemptAt !== null && !obstacles.has(endpoint ?? '') && 'next '}
        <NextAttempt delivery={delivery} obstacles={obstacles} />
        {reason !== null && `: ${visibleText(reason)}`}
      </>
    )
  }
  return reason === null ? tries : `${tries}: ${visibleText(reason)}`
}

/** `3: 2 succeeded, 1 pending`. */
function summaryOf(deliveries: readonly Delivery[]): string {
  const states = [...new Set(deliveries.map(({ state }) => state))]
  const counts = states.map((state) => {
    const count = deliveries.filter((delivery) => delivery.state === state).length
    return `${count} ${state.replaceAll('_', ' ')}`
  })
  return counts.length === 0 ? '' : `${deliveries.length}: ${counts.join(', ')}`
}
