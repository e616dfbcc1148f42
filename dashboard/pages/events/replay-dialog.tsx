import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { useAction } from '../../api/use-action.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { Modal } from '../../parts/modal.tsx'
import { countOf } from '../../parts/numbers.ts'

/** Replays one event. */
export function ReplayDialog({ id, onClose }: { readonly id: string; readonly onClose: () => void }) {
  const [target, setTarget] = useState('')
  const action = useAction('operations.replayOne', {
    said: ({ deliveryIds }) => `Replayed: ${countOf(deliveryIds.length, 'delivery', 'deliveries')}.`,
  })
  if (action.data !== undefined) {
    return (
      <Modal
        title={`Replayed as ${countOf(action.data.deliveryIds.length, 'delivery', 'deliveries')}`}
        onClose={onClose}
        footer={
          <button type="button" className="button primary" onClick={onClose}>
            Close
          </button>
        }
      >
        <ul className="grid gap-1">
          {action.data.deliveryIds.map((deliveryId) => (
            <li key={deliveryId}>
              <Link to="/deliveries/$id" params={{ id: deliveryId }} className="mono" onClick={onClose}>
                {deliveryId}
              </Link>
            </li>
          ))}
        </ul>
      </Modal>
    )
  }
  return (
    <ActionDialog
      title={`Replay ${id}?`}
      verb="Replay"
      pendingVerb="Replaying…"
      action={action}
      onClose={onClose}
      onConfirm={() =>
        action.mutate({
          params: { id },
          body: target.trim() === '' ? {} : { targetEndpoint: target.trim() },
        })
      }
    >
      <p className="quiet">
        The event is delivered again to every endpoint that received it, under a new webhook-id: receivers
        treat it as a new message.
      </p>
      <div className="field">
        <label htmlFor="replay-target">To this endpoint only (optional)</label>
        <input
          id="replay-target"
          className="input"
          autoComplete="off"
          value={target}
          onChange={(event) => setTarget(event.target.value)}
        />
      </div>
    </ActionDialog>
  )
}
