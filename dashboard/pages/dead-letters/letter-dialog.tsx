import { useAction } from '../../api/use-action.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import type { BulkKind } from './letters-view.tsx'

/** The same three actions, on one letter. */
export function LetterDialog({
  kind,
  id,
  onClose,
}: {
  readonly kind: BulkKind
  readonly id: string
  readonly onClose: () => void
}) {
  const redrive = useAction('deadLetters.redrive', { said: () => 'It is delivered again.', onDone: onClose })
  const resolve = useAction('deadLetters.resolve', { said: () => 'Resolved.', onDone: onClose })
  const discard = useAction('deadLetters.discard', { said: () => 'Discarded.', onDone: onClose })
  const params = { id }
  if (kind === 'redrive') {
    return (
      <ActionDialog
        title={`Redrive ${id}?`}
        verb="Redrive"
        pendingVerb="Redriving…"
        action={redrive}
        reason="optional"
        onClose={onClose}
        onConfirm={(reason) => redrive.mutate({ params, body: reason === undefined ? {} : { reason } })}
      >
        <p className="quiet">
          It is delivered again with the current route and template. The receiver sees the same webhook-id.
        </p>
      </ActionDialog>
    )
  }
  if (kind === 'resolve') {
    return (
      <ActionDialog
        title={`Resolve ${id}?`}
        verb="Resolve"
        pendingVerb="Resolving…"
        reason="optional"
        action={resolve}
        onClose={onClose}
        onConfirm={(note) => resolve.mutate({ params, body: note === undefined ? {} : { note } })}
      >
        <p className="quiet">It is settled as needing no delivery any more, and stays to be looked at.</p>
      </ActionDialog>
    )
  }
  return (
    <ActionDialog
      title={`Discard ${id}?`}
      verb="Discard"
      pendingVerb="Discarding…"
      isDanger
      reason="required"
      action={discard}
      onClose={onClose}
      onConfirm={(reason) => discard.mutate({ params, query: { reason: reason ?? '' } })}
    >
      <p className="quiet">
        It is given up and never delivered. It stays to be looked at until retention removes it.
      </p>
    </ActionDialog>
  )
}
