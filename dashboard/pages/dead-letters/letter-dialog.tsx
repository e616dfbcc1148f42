import { because, CallDialog } from '../../parts/call-dialog.tsx'
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
  const params = { id }
  if (kind === 'redrive') {
    return (
      <CallDialog
        call="deadLetters.redrive"
        input={(reason) => ({ params, body: because(reason) })}
        title={`Redrive ${id}?`}
        verb="Redrive"
        reason="optional"
        said={() => 'Redriven.'}
        means="The event is delivered again, rendered by the current route and template. The receiver sees the same webhook-id."
        onClose={onClose}
      />
    )
  }
  if (kind === 'resolve') {
    return (
      <CallDialog
        call="deadLetters.resolve"
        input={(note) => ({ params, body: note === undefined ? {} : { note } })}
        title={`Resolve ${id}?`}
        verb="Resolve"
        reason="optional"
        said={() => 'Resolved.'}
        means="The dead letter is closed: its event needs no delivery any more. It stays in the list of resolved letters until retention removes it."
        onClose={onClose}
      />
    )
  }
  return (
    <CallDialog
      call="deadLetters.discard"
      input={(reason) => ({ params, query: { reason: reason ?? '' } })}
      title={`Discard ${id}?`}
      verb="Discard"
      isDanger
      reason="required"
      said={() => 'Discarded.'}
      means="The dead letter is closed and its event is never delivered. It stays in the list of discarded letters until retention removes it."
      onClose={onClose}
    />
  )
}
