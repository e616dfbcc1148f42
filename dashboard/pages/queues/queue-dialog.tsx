import type { Answer } from '../../api/call.ts'
import type { Field } from '../../forms/field.ts'
import { FormDialog } from '../../forms/form-dialog.tsx'
import { useForm } from '../../forms/use-form.ts'
import { because, CallDialog } from '../../parts/call-dialog.tsx'
import { undoBy, undoReason } from '../../parts/undo.ts'

type Queue = Answer<'jobs.listQueues'>['data'][number]

export function QueueDialog({
  dialog,
  queue,
  onClose,
}: {
  readonly dialog: 'switch' | 'limits'
  readonly queue: Queue
  readonly onClose: () => void
}) {
  return dialog === 'limits' ? (
    <LimitsDialog queue={queue} onClose={onClose} />
  ) : (
    <SwitchDialog queue={queue} onClose={onClose} />
  )
}

interface DialogProps {
  readonly queue: Queue
  readonly onClose: () => void
}

function SwitchDialog({ queue: { name, state }, onClose }: DialogProps) {
  const isPaused = state === 'paused'
  const verb = isPaused ? 'Resume' : 'Pause'
  return (
    <CallDialog
      call={isPaused ? 'jobs.resumeQueue' : 'jobs.pauseQueue'}
      input={(reason) => ({ params: { name }, body: because(reason) })}
      title={`${verb} the queue ${name}?`}
      verb={verb}
      reason="optional"
      said={() => `${verb}d ${name}.`}
      undo={() =>
        undoBy(isPaused ? 'jobs.pauseQueue' : 'jobs.resumeQueue', {
          params: { name },
          body: { reason: undoReason },
        })
      }
      means={
        isPaused
          ? 'Workers claim from it again.'
          : 'Workers claim nothing more from it; runs are accepted and kept. Those that run now go on.'
      }
      onClose={onClose}
    />
  )
}

const fields: readonly Field[] = [
  {
    path: 'concurrency',
    label: 'Runs at once',
    description: 'Over all workers. Empty: as many as they have slots.',
    kind: 'integer',
    isNullable: true,
    minimum: 1,
    maximum: 100_000,
  },
  {
    path: 'ratePerSecond',
    label: 'Starts at most',
    unit: 'per second',
    description: 'Over all workers. Empty: no limit.',
    kind: 'number',
    isNullable: true,
    minimum: 0.001,
    maximum: 100_000,
  },
]

function LimitsDialog({ queue, onClose }: DialogProps) {
  const { name, concurrency, ratePerSecond } = queue
  const state = useForm(`queue:${name}`, fields, { concurrency, ratePerSecond })
  return (
    <FormDialog
      call="jobs.limitQueue"
      input={(form, reason) => ({ params: { name }, body: { ...form.whole, ...because(reason) } })}
      state={state}
      fields={fields}
      title={`Limits of the queue ${name}`}
      verb="Save limits"
      pendingVerb="Saving…"
      reason="optional"
      said={() => `Saved the limits of ${name}.`}
      means="Runs that are running go on; a limit holds from the next claim."
      onClose={onClose}
    />
  )
}
