import { because, CallDialog } from '../../parts/call-dialog.tsx'
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
  return (
    <CallDialog
      call="routes.update"
      input={(reason) => ({ params: { name }, body: { ...changes, ...because(reason) } })}
      title={`Save changes to ${name}?`}
      verb="Save"
      reason="optional"
      said={() => `Saved ${name}.`}
      means="Nodes apply it without a restart, to what is sent from then on. Dead letters stay: redrive them after saving."
      onClose={onClose}
      onDone={() => {
        onSaved()
        onClose()
      }}
    >
      <DiffView before={draftText(before)} after={draftText(after)} />
    </CallDialog>
  )
}
