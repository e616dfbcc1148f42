import { because, CallDialog } from '../../parts/call-dialog.tsx'
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
  const verb = isPaused ? 'Resume' : 'Pause'
  return (
    <CallDialog
      call={isPaused ? 'schedules.resume' : 'schedules.pause'}
      input={(reason) => ({ params: { name }, body: because(reason) })}
      title={`${verb} ${name}?`}
      verb={verb}
      reason="optional"
      said={() => `${verb}d ${name}.`}
      undo={() =>
        undoBy(isPaused ? 'schedules.pause' : 'schedules.resume', {
          params: { name },
          body: { reason: undoReason },
        })
      }
      means={
        isPaused
          ? 'It goes on with the next time from now.'
          : 'It fires no more until it is resumed. Runs that it made stay.'
      }
      onClose={onClose}
    />
  )
}
