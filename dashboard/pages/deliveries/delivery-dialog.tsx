import type { Answer } from '../../api/call.ts'
import { because, CallDialog } from '../../parts/call-dialog.tsx'

export function DeliveryDialog({
  kind,
  delivery: { id },
  onClose,
}: {
  readonly kind: 'retry' | 'cancel'
  readonly delivery: Answer<'deliveries.get'>
  readonly onClose: () => void
}) {
  if (kind === 'retry') {
    return (
      <CallDialog
        call="deliveries.retry"
        input={() => ({ params: { id } })}
        title={`Retry ${id} now?`}
        verb="Retry now"
        said={() => 'The delivery is due now.'}
        means="The next attempt is due now. It still waits while the endpoint is paused or disabled, its circuit is open, or an earlier delivery of the same ordering key is pending."
        onClose={onClose}
      />
    )
  }
  return (
    <CallDialog
      call="deliveries.cancel"
      input={(reason) => ({ params: { id }, body: because(reason) })}
      title={`Cancel ${id}?`}
      verb="Cancel delivery"
      pendingVerb="Cancelling…"
      isDanger
      reason="required"
      said={() => 'Cancelled the delivery.'}
      means="The delivery ends as cancelled and is not attempted again. A request that is in flight may still reach the receiver."
      onClose={onClose}
    />
  )
}
