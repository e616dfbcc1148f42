import { useAction } from '../../api/use-action.ts'
import type { Form } from '../../forms/draft.ts'
import { ReviewDialog } from '../../forms/review-dialog.tsx'
import { because } from '../../parts/call-dialog.tsx'
import type { Setting } from './settings-page.tsx'

/** The diff before a save, and when it takes effect. */
export function SettingsReview({
  settings,
  form,
  onClose,
  onSaved,
}: {
  readonly settings: readonly Setting[]
  readonly form: Form
  readonly onClose: () => void
  readonly onSaved: () => void
}) {
  const { replaced } = form
  const action = useAction('settings.update', {
    said: () => 'Saved the settings.',
    onDone: () => {
      onSaved()
      onClose()
    },
  })
  const changed = settings.filter(({ name }) => name in replaced)
  return (
    <ReviewDialog
      name="the settings"
      changes={form.changes}
      action={action}
      onClose={onClose}
      onConfirm={(reason) => action.mutate({ body: { ...replaced, ...because(reason) } })}
    >
      <ul className="quiet">
        {changed.map(({ name, effect }) => (
          <li key={name}>
            <code>{name}</code> takes effect {effect}.
          </li>
        ))}
      </ul>
    </ReviewDialog>
  )
}
