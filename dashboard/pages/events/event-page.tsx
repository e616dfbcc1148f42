import { Link, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import { Icon } from '../../parts/icon.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { formatBytes } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'

const ReplayDialog = lazy(async () => ({ default: (await import('./replay-dialog.tsx')).ReplayDialog }))

type Event = Answer<'storedEvents.get'>

/** Who wanted it, and did they get it? */
export function EventPage() {
  const { id } = useParams({ from: '/events/$id' })
  const event = useApi('storedEvents.get', { params: { id } }, { topics: ['traffic', 'letters', 'changes'] })
  const [isReplaying, setIsReplaying] = useState(false)
  return (
    <>
      <PageTitle
        title={event.data?.type ?? id}
        section="Events"
        states={event.data?.state === 'unrouted' && <span className="tag">unrouted: no route wants it</span>}
        actions={
          may('operate') &&
          event.data !== undefined && (
            <button type="button" className="button" data-key="r" onClick={() => setIsReplaying(true)}>
              <Icon name="replay" />
              Replay…
            </button>
          )
        }
      />
      <Loaded of={event}>
        {(whole) => (
          <>
            <div className="subtitle">
              <code>{whole.id}</code>
              <span>
                accepted <Time at={whole.createdAt} />
              </span>
              {whole.correlationId !== null && (
                <span>
                  correlation id{' '}
                  <Link to="/events" search={{ correlationId: whole.correlationId }} className="mono text">
                    {whole.correlationId}
                  </Link>
                </span>
              )}
            </div>
            <FanOut event={whole} />
            <div className="columns lg:grid-cols-[minmax(0,1fr)_360px]">
              <section className="card">
                <header>
                  <h2>Payload</h2>
                  <span className="hint">{formatBytes(whole.sizeBytes)}, as published</span>
                </header>
                <div className="body">
                  <JsonView value={whole.payload} label="Payload" fileName={`${whole.id}.json`} />
                </div>
              </section>
              <Facts event={whole} />
            </div>
          </>
        )}
      </Loaded>
      <Suspense>{isReplaying && <ReplayDialog id={id} onClose={() => setIsReplaying(false)} />}</Suspense>
    </>
  )
}

/** The event, the routes that wanted it, and what became of each delivery. */
function FanOut({ event }: { readonly event: Event }) {
  return (
    <section className="card">
      <header>
        <h2>Deliveries</h2>
        <span className="hint">{event.deliveries.length}</span>
      </header>
      {event.deliveries.length === 0 ? (
        <p className="body quiet">
          No route wanted it; it is kept. <Link to="/routes">Routes</Link> say who gets what.
        </p>
      ) : (
        <div className="scroll">
          <table className="table lists">
            <thead>
              <tr>
                <th scope="col">Route</th>
                <th scope="col">Endpoint</th>
                <th scope="col">State</th>
                <th scope="col" className="number">
                  Attempts
                </th>
                <th scope="col">Next attempt</th>
                <th scope="col">Error</th>
                <th scope="col">Delivery</th>
              </tr>
            </thead>
            <tbody>
              {event.deliveries.map((delivery) => (
                <tr key={delivery.id}>
                  <td className="phone-hidden">
                    {delivery.route === null ? (
                      '–'
                    ) : (
                      <Link to="/routes/$name" params={{ name: delivery.route }}>
                        {delivery.route}
                      </Link>
                    )}
                  </td>
                  <td className="phone-title">
                    {delivery.endpoint === null ? (
                      'deleted since'
                    ) : (
                      <Link to="/endpoints/$name" params={{ name: delivery.endpoint }} className="name">
                        {delivery.endpoint}
                      </Link>
                    )}
                  </td>
                  <td className="phone-aside">
                    <State kind="delivery" value={delivery.state} />
                  </td>
                  <td className="number phone-hidden">{delivery.attempt}</td>
                  <td className="phone-hidden">
                    {delivery.state !== 'pending' ? (
                      ''
                    ) : delivery.nextAttemptAt === null ? (
                      'due'
                    ) : (
                      <Time at={delivery.nextAttemptAt} as="in" />
                    )}
                  </td>
                  <td className="phone-detail">
                    <span className="text line-clamp-1">{delivery.error ?? ''}</span>
                  </td>
                  <td className="phone-detail">
                    <Link to="/deliveries/$id" params={{ id: delivery.id }} className="mono">
                      {delivery.id}
                    </Link>
                  </td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

function Facts({ event }: { readonly event: Event }) {
  const traceparent = event.headers['traceparent']
  return (
    <section className="card">
      <header>
        <h2>Facts</h2>
      </header>
      <dl className="body facts">
        <dt>Tenant</dt>
        <dd>{event.tenant === null ? '–' : <bdi>{event.tenant}</bdi>}</dd>
        <dt>Ordering key</dt>
        <dd>
          {event.orderingKey === null ? (
            '–'
          ) : (
            <Link to="/events" search={{ orderingKey: event.orderingKey }} className="mono text">
              {event.orderingKey}
            </Link>
          )}
        </dd>
        <dt>Criticality</dt>
        <dd>
          <State kind="criticality" value={event.criticality} />
        </dd>
        {traceparent !== undefined && (
          <>
            <dt>Trace</dt>
            <dd>
              <code>{traceparent.split('-')[1] ?? traceparent}</code>
            </dd>
          </>
        )}
        {Object.entries(event.headers).map(([name, value]) => (
          <div key={name} className="contents">
            <dt>{name}</dt>
            <dd>
              <bdi className="mono">{value}</bdi>
            </dd>
          </div>
        ))}
      </dl>
      {Object.keys(event.metadata).length > 0 && (
        <div className="body pt-0!">
          <h3>Metadata</h3>
          <JsonView value={event.metadata} label="Metadata" />
        </div>
      )}
    </section>
  )
}
