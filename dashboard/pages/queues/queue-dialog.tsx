import type { Answer } from '../../api/call.ts'
import { useAction } from '../../api/use-action.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { undoBy, undoReason } from '../../parts/undo.ts'

export function QueueDialog({
  queue,
  onClose,
}: {
  readonly queue: Answer<'jobs.listQueues'>['data'][number]
  readonly onClose: () => void
}) {
  const isPaused = queue.state === 'paused'
  const action = useAction(isPaused ? 'jobs.resumeQueue' : 'jobs.pauseQueue', {
    said: () => `${isPaused ? 'Resumed' : 'Paused'} ${queue.name}.`,
    onDone: onClose,
    undo: () =>
      undoBy(isPaused ? 'jobs.pauseQueue' : 'jobs.resumeQueue', {
        params: { name: queue.name },
        body: { reason: undoReason },
      }),
  })
  return (
    <ActionDialog
      title={`${isPaused ? 'Resume' : 'Pause'} the queue ${queue.name}?`}
      verb={isPaused ? 'Resume' : 'Pause'}
      pendingVerb={isPaused ? 'Resuming…' : 'Pausing…'}
      action={action}
      reason="optional"
      onClose={onClose}
      onConfirm={(reason) =>
        action.mutate({ params: { name: queue.name }, body: reason === undefined ? {} : { reason } })
      }
    >
      <p className="quiet">
        {isPaused
          ? 'Workers claim from it again.'
          : 'Workers claim nothing more from it; runs are accepted and kept. Those that run now go on.'}
      </p>
    </ActionDialog>
  )
}
