import type { Answer } from '../../api/call.ts'
import { Note } from '../../parts/note.tsx'
import { countOf } from '../../parts/numbers.ts'
import { Time } from '../../parts/time.tsx'

/** Why nothing is sent at the moment, since when, and what it costs. */
export function EndpointBanner({
  name,
  health,
}: {
  readonly name: string
  readonly health: Answer<'endpoints.health'>
}) {
  const { state, reason, circuit, heldUntil, pending } = health
  const wait = `${countOf(pending, 'delivery', 'deliveries')} ${pending === 1 ? 'waits' : 'wait'}`
  if (state === 'rejecting') {
    return (
      <Note
        tone="bad"
        icon="stopped"
        lead={`${name} refuses every message: ${reason ?? 'permanent answers in a row'}`}
      >
        {wait} instead of becoming dead letters. Fix the cause, send a test, then resume.
      </Note>
    )
  }
  if (state === 'disabled') {
    return (
      <Note tone="bad" icon="stopped" lead={`${name} is disabled${reason === null ? '' : `: ${reason}`}`}>
        {wait}. Nothing is sent until somebody enables it.
      </Note>
    )
  }
  if (state === 'paused') {
    return (
      <Note tone="neutral" icon="paused" lead={`${name} is paused${reason === null ? '' : `: “${reason}”`}`}>
        {wait}. The give-up timer is paused too.
      </Note>
    )
  }
  if (circuit.state !== 'closed') {
    return (
      <Note
        tone="bad"
        icon="circuitOpen"
        lead={
          <>
            The circuit is {circuit.state === 'open' ? 'open' : 'half-open'}
            {circuit.openedAt !== null && (
              <>
                . It opened at <Time at={circuit.openedAt} /> (<Time at={circuit.openedAt} as="ago" /> ago)
              </>
            )}
            , after {countOf(circuit.failures, 'failure')} in a row.
          </>
        }
      >
        {wait}, and {pending === 0 ? 'the next delivery is the probe' : 'waiting uses no attempts'}.
        {circuit.probeAt !== null && pending > 0 && (
          <>
            {' '}
            The next probe is at <Time at={circuit.probeAt} /> (<Time at={circuit.probeAt} as="in" />
            ). When it succeeds, sending ramps up.
          </>
        )}
      </Note>
    )
  }
  if (state === 'held') {
    return (
      <Note
        tone="warn"
        icon="held"
        lead={
          <>
            {name} is held
            {heldUntil !== null && (
              <>
                {' '}
                until <Time at={heldUntil} /> (<Time at={heldUntil} as="in" />)
              </>
            )}
            .
          </>
        }
      >
        {reason !== null && `${reason}. `}
        {wait}; no attempts are used.
      </Note>
    )
  }
  return null
}
