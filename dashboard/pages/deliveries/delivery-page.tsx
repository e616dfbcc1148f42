import { Link, useParams } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { useApi } from '../../api/use-api.ts'
import { Icon } from '../../parts/icon.tsx'
import { JsonView } from '../../parts/json-view.tsx'
import { Loaded } from '../../parts/loaded.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { PageTitle } from '../../parts/page-title.tsx'
import { State } from '../../parts/state.tsx'
import { Time } from '../../parts/time.tsx'
import { AttemptList } from '../attempts/attempt-list.tsx'
import { DeliveryActions } from './delivery-actions.tsx'
import { DeliveryTimeline } from './delivery-timeline.tsx'

type Delivery = Answer<'deliveries.get'>
type Why = Answer<'deliveries.why'>

/** Why is this not delivered? What was sent and answered? */
export function DeliveryPage() {
  const { id } = useParams({ from: '/deliveries/$id' })
  const delivery = useApi('deliveries.get', { params: { id } }, { topics: ['traffic', 'letters', 'changes'] })
  const why = useApi('deliveries.why', { params: { id } }, { topics: ['traffic', 'letters', 'changes'] })
  const { data } = delivery
  return (
    <>
      <PageTitle
        title={
          data === undefined
            ? id
            : `${data.eventType ?? 'Message'} to ${data.endpoint ?? 'a deleted endpoint'}`
        }
        section="Deliveries"
        states={data !== undefined && <State kind="delivery" value={data.state} isPill />}
        actions={data?.state === 'pending' && <DeliveryActions delivery={data} />}
      />
      {data !== undefined && <Ids delivery={data} />}
      {/* What isn't there is said once, below. */}
      {delivery.error?.code !== 'delivery_not_found' && (
        <Loaded of={why} bones={2}>
          {(answer) => <WhyCard why={answer} delivery={data} />}
        </Loaded>
      )}
      <Loaded of={delivery}>
        {(whole) => (
          <div className="columns lg:grid-cols-[320px_minmax(0,1fr)]">
            <div className="stack">
              <DeliveryTimeline delivery={whole} why={why.data} />
              <Facts delivery={whole} why={why.data} />
            </div>
            <div className="stack">
              <AttemptList attempts={whole.attempts} />
              <Payload messageId={whole.replayOf ?? whole.messageId} />
            </div>
          </div>
        )}
      </Loaded>
    </>
  )
}

function Ids({ delivery }: { readonly delivery: Delivery }) {
  const { id, messageId, replayOf, route, correlationId } = delivery
  return (
    <div className="subtitle">
      <code>{id}</code>
      <span>
        event{' '}
        <Link to="/events/$id" params={{ id: messageId }} className="mono">
          {messageId}
        </Link>
      </span>
      {replayOf !== null && (
        <span>
          a replay of{' '}
          <Link to="/events/$id" params={{ id: replayOf }} className="mono">
            {replayOf}
          </Link>
        </span>
      )}
      {route !== null && (
        <span>
          route{' '}
          <Link to="/routes/$name" params={{ name: route }}>
            {route}
          </Link>
        </span>
      )}
      {correlationId !== null && (
        <span>
          correlation id{' '}
          <Link to="/events" search={{ correlationId }} className="mono text">
            {correlationId}
          </Link>
        </span>
      )}
    </div>
  )
}

function WhyCard({ why, delivery }: { readonly why: Why; readonly delivery: Delivery | undefined }) {
  const isGood = why.code === 'succeeded'
  const tone = isGood ? 'ok' : why.code === 'dead' || why.code === 'expired' ? 'bad' : 'warn'
  return (
    <section className={`note ${tone}`} aria-labelledby="why">
      <Icon name="info" />
      <h2 id="why" className="hint font-normal!">
        {isGood ? 'What became of it' : 'Why is this not delivered?'}
      </h2>
      <div className="rest grid gap-2">
        <p className="why text text-ink" data-why={why.code}>
          {why.sentence}
          {why.until !== null && (
            <>
              {' '}
              {why.code === 'circuit_open' ? 'The next probe is' : 'It goes on'} at <Time at={why.until} /> (
              <Time at={why.until} as="in" />
              ).
            </>
          )}
        </p>
        <p className="flex flex-wrap gap-x-6">
          {why.orderingKey !== null && (
            <span>
              {why.orderingKey.ahead === 0
                ? 'First'
                : `${formatCount(why.orderingKey.ahead, 1000)} before it`}
              {why.orderingKey.behind > 0 && `, ${formatCount(why.orderingKey.behind, 1000)} after it`}, with
              ordering key <code className="text">{why.orderingKey.key}</code>
            </span>
          )}
          {why.tries !== null && (
            <span>
              {why.tries.used} of {why.tries.allowed} tries used
            </span>
          )}
          {why.givesUpAt !== null && (
            <span>
              Gives up <Time at={why.givesUpAt} /> (<Time at={why.givesUpAt} as="in" />)
            </span>
          )}
          {why.orderingKey?.first != null && (
            <Link to="/deliveries/$id" params={{ id: why.orderingKey.first }}>
              Open the first of this key
            </Link>
          )}
        </p>
      </div>
      {delivery !== undefined && !isGood && (
        <div className="actions">
          <NextStep delivery={delivery} />
        </div>
      )}
    </section>
  )
}

/** A dead letter is redriven from its page; what waits, waits for its endpoint. */
function NextStep({ delivery: { deadLetterId, endpoint } }: { readonly delivery: Delivery }) {
  if (deadLetterId !== null) {
    return (
      <Link to="/dead-letters/$id" params={{ id: deadLetterId }} className="button">
        Open dead letter
      </Link>
    )
  }
  if (endpoint === null) return null
  return (
    <Link to="/endpoints/$name" params={{ name: endpoint }} className="button">
      Open endpoint
    </Link>
  )
}

function Facts({ delivery, why }: { readonly delivery: Delivery; readonly why: Why | undefined }) {
  const { priority, criticality, orderingKey, expiresAt, tenant, deadLetterId } = delivery
  return (
    <section className="card">
      <header>
        <h2>Facts</h2>
      </header>
      <dl className="body facts">
        <dt>Priority</dt>
        <dd>{priority ?? '–'}</dd>
        <dt>Criticality</dt>
        <dd>{criticality === null ? '–' : <State kind="criticality" value={criticality} />}</dd>
        <dt>Ordering key</dt>
        <dd>{orderingKey === null ? '–' : <bdi className="mono">{orderingKey}</bdi>}</dd>
        <dt>Expires</dt>
        <dd>{expiresAt === null ? 'never' : <Time at={expiresAt} />}</dd>
        <dt>Tenant</dt>
        <dd>{tenant === null ? '–' : <bdi>{tenant}</bdi>}</dd>
        {deadLetterId !== null && (
          <>
            <dt>Dead letter</dt>
            <dd>
              <Link to="/dead-letters/$id" params={{ id: deadLetterId }} className="mono">
                {deadLetterId}
              </Link>
            </dd>
          </>
        )}
        {why?.owner != null && (
          <>
            <dt>Owner</dt>
            <dd>
              {why.owner.node ?? 'none'} <span className="hint">shard {why.owner.shard}</span>
            </dd>
          </>
        )}
      </dl>
    </section>
  )
}

export function Payload({ messageId }: { readonly messageId: string }) {
  const event = useApi('storedEvents.get', { params: { id: messageId } }, { topics: [] })
  return (
    <section className="card">
      <header>
        <h2>Event payload</h2>
        <span className="hint">as published</span>
      </header>
      <div className="body">
        <Loaded of={event} bones={3}>
          {({ payload }) => <JsonView value={payload} label="Payload" fileName={`${messageId}.json`} />}
        </Loaded>
      </div>
    </section>
  )
}
