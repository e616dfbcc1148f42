import { because, CallDialog } from '../../parts/call-dialog.tsx'

export function RunDialog({
  kind,
  id,
  onClose,
}: {
  readonly kind: 'cancel' | 'retry'
  readonly id: string
  readonly onClose: () => void
}) {
  if (kind === 'retry') {
    return (
      <CallDialog
        call="runs.retry"
        input={() => ({ params: { id } })}
        title={`Run ${id} now?`}
        verb="Run now"
        pendingVerb="Hurrying…"
        said={() => 'Due now.'}
        means="It is due at once instead of waiting for its time."
        onClose={onClose}
      />
    )
  }
  return (
    <CallDialog
      call="runs.cancel"
      input={(reason) => ({ params: { id }, body: because(reason) })}
      title={`Cancel ${id}?`}
      verb="Cancel run"
      pendingVerb="Cancelling…"
      isDanger
      reason="required"
      said={({ outcome }) => (outcome === 'cancelled' ? 'Cancelled the run.' : 'Told its handler to stop.')}
      means="A run that waits ends at once; the handler of one that runs is told, and decides how it stops."
      onClose={onClose}
    />
  )
}
