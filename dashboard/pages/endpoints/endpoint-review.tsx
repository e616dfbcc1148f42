import type { Answer } from '../../api/call.ts'
import { useAction } from '../../api/use-action.ts'
import type { Form } from '../../forms/draft.ts'
import { ReviewDialog } from '../../forms/review-dialog.tsx'
import { Note } from '../../parts/note.tsx'
import { countOf, formatSpan } from '../../parts/numbers.ts'
import { ShownOnce } from '../../parts/shown-once.tsx'

/** The diff before a save, and what it means for deliveries. */
export function EndpointReview({
  endpoint,
  form,
  onClose,
  onSaved,
}: {
  readonly endpoint: Answer<'endpoints.get'>
  readonly form: Form
  readonly onClose: () => void
  readonly onSaved: () => void
}) {
  const { name } = endpoint
  const action = useAction('endpoints.update', {
    said: () => `Saved ${name}.`,
    onDone: ({ signingSecret }) => {
      onSaved()
      if (signingSecret === undefined) onClose()
    },
  })
  if (action.data?.signingSecret !== undefined) {
    return <NewSecret name={name} secret={action.data.signingSecret} onClose={onClose} />
  }
  return (
    <ReviewDialog
      name={name}
      changes={form.changes}
      action={action}
      onClose={onClose}
      onConfirm={(reason) =>
        action.mutate({
          params: { name },
          body: { ...form.body, ...(reason !== undefined && { reason }) },
        })
      }
    >
      {warnings(endpoint, form).map((warning) => (
        <Note key={warning} tone="warn" icon="info" lead={warning} />
      ))}
      <p className="quiet">Applies to the next attempt on every node, within about a second.</p>
    </ReviewDialog>
  )
}

export function NewSecret({
  name,
  secret,
  onClose,
}: {
  readonly name: string
  readonly secret: string
  readonly onClose: () => void
}) {
  return (
    <ShownOnce
      title={`The signing secret of ${name}`}
      text={secret}
      means="Receivers verify signatures with it."
      onClose={onClose}
    />
  )
}

function warnings(endpoint: Answer<'endpoints.get'>, form: Form): readonly string[] {
  const number = (path: string): number => Number(form.rawAt(path))
  const found: string[] = []
  const timeoutMs = number('config.timeoutMs')
  const slots = number('limits.concurrency')
  if (timeoutMs > endpoint.config.timeoutMs) {
    found.push(
      `With ${countOf(slots, 'slot')} and a timeout of ${formatSpan(timeoutMs)}, a silent receiver holds every slot for longer.`,
    )
  }
  const giveUpMs = number('retry.giveUpAfterMs')
  if (giveUpMs < endpoint.retry.giveUpAfterMs) {
    found.push(`Deliveries that are older than ${formatSpan(giveUpMs)} become dead letters.`)
  }
  return found
}
