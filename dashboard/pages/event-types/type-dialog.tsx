import type { Input } from '../../api/call.ts'
import { because, CallDialog } from '../../parts/call-dialog.tsx'
import { DeleteDialog } from '../../parts/delete-dialog.tsx'
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
  if (dialog === 'delete') {
    return (
      <DeleteDialog
        call="eventTypes.delete"
        input={(reason) => ({ params: { name }, query: because(reason) })}
        name={name}
        reason="optional"
        means="Events of this type can be published as before, without a schema and as standard ones."
        onClose={onClose}
        onDone={onDeleted}
      />
    )
  }
  return (
    <CallDialog
      call="eventTypes.put"
      input={(reason) => ({ params: { name }, body: { ...body, ...because(reason) } })}
      title={`Save ${name}?`}
      verb="Save"
      reason="optional"
      said={() => `Saved ${name}.`}
      means="Publishing checks against it at once; what is stored already isn't checked again."
      onClose={onClose}
      onDone={() => {
        onSaved()
        onClose()
      }}
    >
      <DiffView before={before} after={after} />
    </CallDialog>
  )
}
