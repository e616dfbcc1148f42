import type { Answer } from '../../api/call.ts'
import { useAction } from '../../api/use-action.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'

export function DeliveryDialog({
  kind,
  delivery,
  onClose,
}: {
  readonly kind: 'retry' | 'cancel'
  readonly delivery: Answer<'deliveries.get'>
  readonly onClose: () => void
}) {
  const retry = useAction('deliveries.retry', { said: () => 'Due now.', onDone: onClose })
  const cancel = useAction('deliveries.cancel', { said: () => 'Cancelled the delivery.', onDone: onClose })
  const params = { id: delivery.id }
  if (kind === 'retry') {
    return (
      <ActionDialog
        title={`Retry ${delivery.id} now?`}
        verb="Retry now"
        pendingVerb="Retrying…"
        action={retry}
        onClose={onClose}
        onConfirm={() => retry.mutate({ params })}
      >
        <p className="quiet">
          It is due at once instead of waiting for its time. A stopped endpoint, an open circuit and the order
          of its key still hold it up.
        </p>
      </ActionDialog>
    )
  }
  return (
    <ActionDialog
      title={`Cancel ${delivery.id}?`}
      verb="Cancel delivery"
      pendingVerb="Cancelling…"
      isDanger
      reason="required"
      action={cancel}
      onClose={onClose}
      onConfirm={(reason) => cancel.mutate({ params, body: reason === undefined ? {} : { reason } })}
    >
      <p className="quiet">
        It ends as cancelled and is never delivered. A request that is out at this moment may still arrive.
      </p>
    </ActionDialog>
  )
}
