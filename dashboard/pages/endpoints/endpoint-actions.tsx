import { lazy, Suspense, useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { may } from '../../api/session.ts'
import { Icon } from '../../parts/icon.tsx'

const EndpointDialogs = lazy(async () => ({
  default: (await import('./endpoint-dialogs.tsx')).EndpointDialogs,
}))

export type EndpointDialog = 'pause' | 'resume' | 'enable' | 'disable' | 'reset' | 'test' | 'rotate'

/** What can be done to an endpoint now; what a role may not do isn't there. */
export function EndpointActions({
  name,
  health,
}: {
  readonly name: string
  readonly health: Answer<'endpoints.health'>
}) {
  const [dialog, setDialog] = useState<EndpointDialog | null>(null)
  if (!may('operate')) return null
  const { state, circuit, heldUntil } = health
  const isStopped = state === 'paused' || state === 'rejecting'
  const canReset = circuit.state !== 'closed' || heldUntil !== null
  return (
    <>
      <button type="button" className="button" data-key="t" onClick={() => setDialog('test')}>
        <Icon name="delivery" />
        Send a test…
      </button>
      {canReset && (
        <button type="button" className="button" onClick={() => setDialog('reset')}>
          {circuit.state === 'closed' ? 'Clear hold…' : 'Reset circuit…'}
        </button>
      )}
      {state === 'disabled' ? (
        <button type="button" className="button" data-key="p" onClick={() => setDialog('enable')}>
          Enable…
        </button>
      ) : (
        <button
          type="button"
          className="button"
          data-key="p"
          onClick={() => setDialog(isStopped ? 'resume' : 'pause')}
        >
          <Icon name={isStopped ? 'play' : 'paused'} />
          {isStopped ? 'Resume…' : 'Pause…'}
        </button>
      )}
      {state !== 'disabled' && (
        <button type="button" className="button ghost" onClick={() => setDialog('disable')}>
          Disable…
        </button>
      )}
      {may('configure') && (
        <button type="button" className="button ghost" onClick={() => setDialog('rotate')}>
          Rotate secret…
        </button>
      )}
      <Suspense>
        {dialog !== null && (
          <EndpointDialogs name={name} dialog={dialog} health={health} onClose={() => setDialog(null)} />
        )}
      </Suspense>
    </>
  )
}
