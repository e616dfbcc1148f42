import { Link, useParams } from '@tanstack/react-router'
import { lazy, Suspense, useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { may, session } from '../../api/session.ts'
import { useApi } from '../../api/use-api.ts'
import { Icon } from '../../parts/icon.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { formatBytes } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { FanOut } from './fan-out.tsx'

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
              <Trace id={traceparent.split('-')[1] ?? traceparent} />
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

/** Leads to the tracing tool of this installation, if its address is configured. */
function Trace({ id }: { readonly id: string }) {
  const { traceUrl } = session
  if (traceUrl === null) return <code>{id}</code>
  return (
    <a href={traceUrl.replace('{traceId}', encodeURIComponent(id))} className="mono" rel="noreferrer">
      {id}
    </a>
  )
}
