import { useAction } from '../../api/use-action.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'

export function RunDialog({
  kind,
  id,
  onClose,
}: {
  readonly kind: 'cancel' | 'retry'
  readonly id: string
  readonly onClose: () => void
}) {
  const cancel = useAction('runs.cancel', {
    said: ({ outcome }) => (outcome === 'cancelled' ? 'Cancelled the run.' : 'Told its handler to stop.'),
    onDone: onClose,
  })
  const retry = useAction('runs.retry', { said: () => 'Due now.', onDone: onClose })
  if (kind === 'retry') {
    return (
      <ActionDialog
        title={`Run ${id} now?`}
        verb="Run now"
        pendingVerb="Hurrying…"
        action={retry}
        onClose={onClose}
        onConfirm={() => retry.mutate({ params: { id } })}
      >
        <p className="quiet">It is due at once instead of waiting for its time.</p>
      </ActionDialog>
    )
  }
  return (
    <ActionDialog
      title={`Cancel ${id}?`}
      verb="Cancel run"
      pendingVerb="Cancelling…"
      isDanger
      reason="required"
      action={cancel}
      onClose={onClose}
      onConfirm={(reason) => cancel.mutate({ params: { id }, body: reason === undefined ? {} : { reason } })}
    >
      <p className="quiet">
        A run that waits ends at once; the handler of one that runs is told, and decides how it stops.
      </p>
    </ActionDialog>
  )
}
