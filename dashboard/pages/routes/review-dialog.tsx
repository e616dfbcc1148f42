import { useAction } from '../../api/use-action.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { DiffView } from '../../parts/diff-view.tsx'
import { draftText, type RouteBody, type RouteDraft } from './route-draft.ts'

/** The diff before a save. */
export function ReviewDialog({
  name,
  before,
  after,
  changes,
  onClose,
  onSaved,
}: {
  readonly name: string
  readonly before: RouteDraft
  readonly after: RouteDraft
  readonly changes: RouteBody
  readonly onClose: () => void
  readonly onSaved: () => void
}) {
  const action = useAction('routes.update', {
    said: () => `Saved ${name}.`,
    onDone: () => {
      onSaved()
      onClose()
    },
  })
  return (
    <ActionDialog
      title={`Save changes to ${name}?`}
      verb="Save"
      pendingVerb="Saving…"
      action={action}
      reason="optional"
      onClose={onClose}
      onConfirm={(reason) =>
        action.mutate({ params: { name }, body: { ...changes, ...(reason !== undefined && { reason }) } })
      }
    >
      <p className="quiet">
        Nodes apply it without a restart, to what is sent from then on. Dead letters stay: redrive them after
        saving.
      </p>
      <DiffView before={draftText(before)} after={draftText(after)} />
    </ActionDialog>
  )
}
