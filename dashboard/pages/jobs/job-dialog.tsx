import { useNavigate } from '@tanstack/react-router'
import type { Answer } from '../../api/call.ts'
import { because, CallDialog } from '../../parts/call-dialog.tsx'
import { TextField } from '../../parts/labelled-field.tsx'
import { undoBy, undoReason } from '../../parts/undo.ts'
import { useDraft } from '../../parts/use-draft.ts'
import type { JobDialogKind } from './job-actions.tsx'

const words = {
  enable: { call: 'jobs.enable', verb: 'Enable', means: 'Its runs go on at once.' },
  pause: {
    call: 'jobs.pause',
    verb: 'Pause',
    means: 'Its runs wait until it is enabled. Those that run now go on.',
  },
  disable: {
    call: 'jobs.disable',
    verb: 'Disable',
    means: 'Its runs wait until somebody enables it. To stop for a while, pause it instead.',
  },
} as const

export function JobDialog({
  kind,
  job,
  onClose,
}: {
  readonly kind: JobDialogKind
  readonly job: Answer<'jobs.get'>
  readonly onClose: () => void
}) {
  if (kind === 'trigger') return <TriggerDialog name={job.name} onClose={onClose} />
  return <SwitchDialog kind={kind} job={job} onClose={onClose} />
}

function SwitchDialog({
  kind,
  job: { name, state },
  onClose,
}: {
  readonly kind: Exclude<JobDialogKind, 'trigger'>
  readonly job: Answer<'jobs.get'>
  readonly onClose: () => void
}) {
  const { call, verb, means } = words[kind]
  return (
    <CallDialog
      call={call}
      input={(reason) => ({ params: { name }, body: because(reason) })}
      title={`${verb} ${name}?`}
      verb={verb}
      reason="optional"
      said={() => `${verb}d ${name}.`}
      // Back to what it was: a disabled job was not paused.
      undo={() =>
        undoBy(kind !== 'enable' ? 'jobs.enable' : state === 'disabled' ? 'jobs.disable' : 'jobs.pause', {
          params: { name },
          body: { reason: undoReason },
        })
      }
      means={means}
      onClose={onClose}
    />
  )
}

/** Starts a run by hand and goes to it, to follow its log. */
function TriggerDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const navigate = useNavigate()
  const { value: input, set: setInput, drop } = useDraft(`trigger:${name}`, '')
  const payload = parse(input)
  return (
    <CallDialog
      call="jobs.trigger"
      input={(reason) => ({
        params: { name },
        body: { ...(payload.value !== undefined && { payload: payload.value }), ...because(reason) },
      })}
      title={`Trigger ${name}?`}
      verb="Trigger"
      reason="optional"
      isReady={payload.isRight}
      said={() => `Triggered ${name}.`}
      onClose={onClose}
      onDone={({ id }) => {
        drop()
        onClose()
        void navigate({ to: '/runs/$id', params: { id } })
      }}
    >
      <TextField
        label="Input, as JSON (empty: as it is scheduled)"
        lines="some"
        isMono
        value={input}
        problem={payload.isRight ? undefined : 'This is no JSON yet.'}
        onChange={setInput}
      />
    </CallDialog>
  )
}

function parse(text: string): { readonly isRight: boolean; readonly value?: unknown } {
  if (text.trim() === '') return { isRight: true }
  try {
    return { isRight: true, value: JSON.parse(text) as unknown }
  } catch {
    return { isRight: false }
  }
}
