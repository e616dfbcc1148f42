import type { Answer } from '../../api/call.ts'
import { CallDialog } from '../../parts/call-dialog.tsx'
import { undoBy } from '../../parts/undo.ts'

/** The code of its workers decides again. */
export function OverrideDialog({
  job: { name, overrides },
  field,
  onClose,
}: {
  readonly job: Answer<'jobs.get'>
  readonly field: string
  readonly onClose: () => void
}) {
  const params = { name }
  return (
    <CallDialog
      call="jobs.update"
      input={() => ({ params, body: { [field]: null } })}
      title={`Remove the override of ${field}?`}
      verb="Remove override"
      pendingVerb="Removing…"
      said={() => `Removed the override of ${field}.`}
      undo={() => undoBy('jobs.update', { params, body: { [field]: overrides[field] } })}
      means={
        <>
          Runs of {name} use the value in the code of its workers again, instead of{' '}
          <code>{JSON.stringify(overrides[field])}</code>.
        </>
      }
      onClose={onClose}
    />
  )
}
