import { lazy, Suspense, useState } from 'react'
import type { Answer } from '../../api/call.ts'
import { may } from '../../api/session.ts'

const RunDialog = lazy(async () => ({ default: (await import('./run-dialog.tsx')).RunDialog }))
const LetterDialog = lazy(async () => ({
  default: (await import('../dead-letters/letter-dialog.tsx')).LetterDialog,
}))

/** Cancel what has not ended, hurry what waits for a time, redrive what failed. */
export function RunActions({ run }: { readonly run: Answer<'runs.get'> }) {
  const [dialog, setDialog] = useState<'cancel' | 'retry' | 'redrive' | null>(null)
  if (!may('operate')) return null
  const isOwed = run.state === 'scheduled' || run.state === 'waiting' || run.state === 'running'
  const close = () => setDialog(null)
  return (
    <>
      {run.state === 'scheduled' && (
        <button type="button" className="button" data-key="r" onClick={() => setDialog('retry')}>
          Run now…
        </button>
      )}
      {isOwed && (
        <button type="button" className="button" onClick={() => setDialog('cancel')}>
          Cancel run…
        </button>
      )}
      {run.deadLetterId !== null && (
        <button type="button" className="button primary" data-key="r" onClick={() => setDialog('redrive')}>
          Redrive…
        </button>
      )}
      <Suspense>
        {(dialog === 'cancel' || dialog === 'retry') && (
          <RunDialog kind={dialog} id={run.id} onClose={close} />
        )}
        {dialog === 'redrive' && run.deadLetterId !== null && (
          <LetterDialog kind="redrive" id={run.deadLetterId} onClose={close} />
        )}
      </Suspense>
    </>
  )
}
