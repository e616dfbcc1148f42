import { useAction } from '../../api/use-action.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { undoBy, undoReason } from '../../parts/undo.ts'

export function ScheduleDialog({
  name,
  isPaused,
  onClose,
}: {
  readonly name: string
  readonly isPaused: boolean
  readonly onClose: () => void
}) {
  const action = useAction(isPaused ? 'schedules.resume' : 'schedules.pause', {
    said: () => `${isPaused ? 'Resumed' : 'Paused'} ${name}.`,
    onDone: onClose,
    undo: () =>
      undoBy(isPaused ? 'schedules.pause' : 'schedules.resume', {
        params: { name },
        body: { reason: undoReason },
      }),
  })
  return (
    <ActionDialog
      title={`${isPaused ? 'Resume' : 'Pause'} ${name}?`}
      verb={isPaused ? 'Resume' : 'Pause'}
      pendingVerb={isPaused ? 'Resuming…' : 'Pausing…'}
      action={action}
      reason="optional"
      onClose={onClose}
      onConfirm={(reason) =>
        action.mutate({ params: { name }, body: reason === undefined ? {} : { reason } })
      }
    >
      <p className="quiet">
        {isPaused
          ? 'It goes on with the next time from now.'
          : 'It fires no more until it is resumed. Runs that it made stay.'}
      </p>
    </ActionDialog>
  )
}
