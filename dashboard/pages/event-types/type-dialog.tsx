import type { Input } from '../../api/call.ts'
import { useAction } from '../../api/use-action.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { DiffView } from '../../parts/diff-view.tsx'

export function TypeDialog({
  dialog,
  name,
  before,
  after,
  body,
  onClose,
  onSaved,
  onDeleted,
}: {
  readonly dialog: 'save' | 'delete'
  readonly name: string
  readonly before: string
  readonly after: string
  readonly body: Input<'eventTypes.put'>['body']
  readonly onClose: () => void
  readonly onSaved: () => void
  readonly onDeleted: () => void
}) {
  const put = useAction('eventTypes.put', {
    said: () => `Saved ${name}.`,
    onDone: () => {
      onSaved()
      onClose()
    },
  })
  const remove = useAction('eventTypes.delete', { said: () => `Deleted ${name}.`, onDone: onDeleted })
  if (dialog === 'delete') {
    return (
      <ActionDialog
        title={`Delete ${name}?`}
        verb="Delete"
        pendingVerb="Deleting…"
        isDanger
        typed={name}
        reason="optional"
        action={remove}
        onClose={onClose}
        onConfirm={(reason) =>
          remove.mutate({ params: { name }, query: reason === undefined ? {} : { reason } })
        }
      >
        <p className="quiet">
          Events of this type can be published as before, without a schema and as standard ones.
        </p>
      </ActionDialog>
    )
  }
  return (
    <ActionDialog
      title={`Save ${name}?`}
      verb="Save"
      pendingVerb="Saving…"
      reason="optional"
      action={put}
      onClose={onClose}
      onConfirm={(reason) =>
        put.mutate({ params: { name }, body: { ...body, ...(reason !== undefined && { reason }) } })
      }
    >
      <p className="quiet">
        Publishing checks against it at once; what is stored already isn't checked again.
      </p>
      <DiffView before={before} after={after} />
    </ActionDialog>
  )
}
