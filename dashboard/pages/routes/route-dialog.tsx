import { useState } from 'react'
import { useAction } from '../../api/use-action.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { undoBy, undoReason } from '../../parts/undo.ts'
import type { Route } from './route-draft.ts'

export function RouteDialog({
  dialog,
  route,
  onClose,
  onDeleted,
}: {
  readonly dialog: 'switch' | 'delete'
  readonly route: Route
  readonly onClose: () => void
  readonly onDeleted: () => void
}) {
  const { name, enabled } = route
  const [isForced, setIsForced] = useState(false)
  const change = useAction('routes.update', {
    said: () => `${enabled ? 'Disabled' : 'Enabled'} ${name}.`,
    onDone: onClose,
    undo: () => undoBy('routes.update', { params: { name }, body: { enabled, reason: undoReason } }),
  })
  const remove = useAction('routes.delete', { said: () => `Deleted ${name}.`, onDone: onDeleted })
  const because = (reason: string | undefined) => (reason === undefined ? {} : { reason })
  if (dialog === 'switch') {
    return (
      <ActionDialog
        title={`${enabled ? 'Disable' : 'Enable'} ${name}?`}
        verb={enabled ? 'Disable' : 'Enable'}
        pendingVerb={enabled ? 'Disabling…' : 'Enabling…'}
        action={change}
        reason="optional"
        onClose={onClose}
        onConfirm={(reason) =>
          change.mutate({ params: { name }, body: { enabled: !enabled, ...because(reason) } })
        }
      >
        <p className="quiet">
          {enabled
            ? 'Events that are published from now on take no notice of it. What is owed along it is delivered.'
            : 'Events that are published from now on go along it.'}
        </p>
      </ActionDialog>
    )
  }
  return (
    <ActionDialog
      title={`Delete ${name}?`}
      verb="Delete"
      pendingVerb="Deleting…"
      isDanger
      typed={name}
      action={remove}
      reason="optional"
      onClose={onClose}
      onConfirm={(reason) =>
        remove.mutate({ params: { name }, query: { force: isForced, ...because(reason) } })
      }
    >
      <p className="quiet">
        Deleting is refused while deliveries are owed along it. To stop it for a while, disable it instead.
      </p>
      <label className="check">
        <input type="checkbox" checked={isForced} onChange={({ target }) => setIsForced(target.checked)} />
        Cancel what is owed along it
      </label>
    </ActionDialog>
  )
}
