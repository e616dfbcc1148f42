import type { Answer } from '../../api/call.ts'
import { CallDialog } from '../../parts/call-dialog.tsx'
import { countOf } from '../../parts/numbers.ts'
import { undoBy } from '../../parts/undo.ts'

/** Drains an active worker, and lets a draining one claim runs again. */
export function DrainDialog({
  worker: { id, name, running, state },
  onClose,
}: {
  readonly worker: Answer<'jobs.listWorkers'>['data'][number]
  readonly onClose: () => void
}) {
  const input = { params: { id } }
  if (state === 'draining') {
    return (
      <CallDialog
        call="jobs.undrainWorker"
        input={() => input}
        title={`Let ${name} claim runs again?`}
        verb="Stop draining"
        pendingVerb="Saving…"
        said={() => `${name} claims runs again.`}
        undo={() => undoBy('jobs.drainWorker', input)}
        means="The worker claims runs of its queues again."
        onClose={onClose}
      />
    )
  }
  return (
    <CallDialog
      call="jobs.drainWorker"
      input={() => input}
      title={`Drain ${name}?`}
      verb="Drain"
      said={() => `${name} is draining.`}
      undo={() => undoBy('jobs.undrainWorker', input)}
      means={`The worker finishes ${countOf(running, 'run')} and claims no more. Other workers take over its queues.`}
      onClose={onClose}
    />
  )
}
