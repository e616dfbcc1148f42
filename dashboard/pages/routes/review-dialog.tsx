import type { Input } from '../../api/call.ts'
import { useAction } from '../../api/use-action.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { DiffView } from '../../parts/diff-view.tsx'
import type { Draft } from './route-editor.tsx'

/** The diff before a save. */
export function ReviewDialog({
  name,
  before,
  after,
  changes,
  onClose,
}: {
  readonly name: string
  readonly before: Draft
  readonly after: Draft
  readonly changes: Input<'routes.update'>['body']
  readonly onClose: () => void
}) {
  const action = useAction('routes.update', { said: () => `Saved ${name}.`, onDone: onClose })
  return (
    <ActionDialog
      title={`Save changes to ${name}?`}
      verb="Save"
      pendingVerb="Saving…"
      action={action}
      onClose={onClose}
      onConfirm={() => action.mutate({ params: { name }, body: changes })}
    >
      <p className="quiet">
        Nodes apply it without a restart, to what is sent from then on. Dead letters stay: redrive them after
        saving.
      </p>
      <DiffView before={asText(before)} after={asText(after)} />
    </ActionDialog>
  )
}

function asText(draft: Draft): string {
  const { transform, ...rest } = draft
  const lines = Object.entries(rest).map(([field, value]) => `${field}: ${String(value)}`)
  return `${lines.join('\n')}\ntransform: ${transform === '' ? 'none' : `\n${transform}`}`
}
