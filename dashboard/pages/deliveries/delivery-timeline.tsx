import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { parseId, timeOfId } from '../../../src/core/delivery/ids.ts'
import type { Answer } from '../../api/call.ts'
import { Icon, type IconName } from '../../parts/icon.tsx'
import { stateLook } from '../../parts/states.ts'
import { Time } from '../../parts/time.tsx'
import { visibleText } from '../../parts/visible-text.ts'

interface Moment {
  readonly key: string
  readonly icon: IconName
  readonly tone: string
  readonly title: string
  readonly detail: ReactNode
  readonly at: string | null
}

/** Its life, the newest first: what it waits for, each attempt, and how it came here. */
export function DeliveryTimeline({
  delivery,
  why,
}: {
  readonly delivery: Answer<'deliveries.get'>
  readonly why: Answer<'deliveries.why'> | undefined
}) {
  const moments = momentsOf(delivery, why)
  return (
    <section className="card">
      <header>
        <h2>Timeline</h2>
        <span className="hint">newest first</span>
      </header>
      <ol className="body timeline">
        {moments.map(({ key, icon, tone, title, detail, at }) => (
          <li key={key} className={`tone-${tone}`}>
            <Icon name={icon} />
            <div className="flex gap-2">
              <b className="grow">{title}</b>
              <span className="hint">{at === null ? 'now' : <Time at={at} />}</span>
            </div>
            <p className="quiet text">{detail}</p>
          </li>
        ))}
      </ol>
    </section>
  )
}

function momentsOf(
  delivery: Answer<'deliveries.get'>,
  why: Answer<'deliveries.why'> | undefined,
): readonly Moment[] {
  const attempts = delivery.attempts.toReversed().map((attempt): Moment => {
    const look = stateLook('outcome', attempt.outcome)
    return {
      key: `${attempt.attempt} ${attempt.startedAt}`,
      icon: look.icon,
      tone: look.tone === 'neutral' ? 'ink-3' : look.tone,
      title: `${attempt.isProbe ? 'Probe' : `Attempt ${attempt.attempt}`}: ${look.word.toLowerCase()}`,
      detail:
        attempt.error === null
          ? attempt.statusCode === null
            ? ''
            : `Answered ${attempt.statusCode}`
          : visibleText(attempt.error.slice(0, 200)),
      at: attempt.startedAt,
    }
  })
  const now: readonly Moment[] =
    delivery.state === 'pending' && why !== undefined
      ? [
          {
            key: 'now',
            icon: 'held',
            tone: 'warn',
            title: 'Waits',
            detail: why.code.replaceAll('_', ' '),
            at: null,
          },
        ]
      : []
  const begin: Moment = {
    key: 'begin',
    icon: 'event',
    tone: 'ink-3',
    title: delivery.route === null ? 'Sent to the endpoint' : 'Routed',
    detail:
      delivery.route === null ? (
        'Straight, without a route'
      ) : (
        <>
          By{' '}
          <Link to="/routes/$name" params={{ name: delivery.route }}>
            {delivery.route}
          </Link>
        </>
      ),
    at: acceptedAt(delivery),
  }
  return [...now, ...attempts, begin]
}

/** Ids are drawn by the clock. */
function acceptedAt(delivery: Answer<'deliveries.get'>): string | null {
  const number = parseId('dlv', delivery.id)
  return number === undefined ? null : new Date(timeOfId(number)).toISOString()
}
