import type { Answer } from '../../api/call.ts'
import { useAction } from '../../api/use-action.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { countOf } from '../../parts/numbers.ts'

export function DrainDialog({
  worker,
  onClose,
}: {
  readonly worker: Answer<'jobs.listWorkers'>['data'][number]
  readonly onClose: () => void
}) {
  const action = useAction('jobs.drainWorker', { said: () => `${worker.name} is draining.`, onDone: onClose })
  return (
    <ActionDialog
      title={`Drain ${worker.name}?`}
      verb="Drain"
      pendingVerb="Draining…"
      action={action}
      onClose={onClose}
      onConfirm={() => action.mutate({ params: { id: worker.id } })}
    >
      <p className="quiet">
        It finishes {countOf(worker.running, 'run')} and claims nothing more. Its queues are left to the other
        workers.
      </p>
    </ActionDialog>
  )
}
