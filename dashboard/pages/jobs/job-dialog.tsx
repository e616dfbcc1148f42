import { useNavigate } from '@tanstack/react-router'
import { useId } from 'react'
import type { Answer } from '../../api/call.ts'
import { useAction } from '../../api/use-action.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { undoBy, undoReason } from '../../parts/undo.ts'
import { useDraft } from '../../parts/use-draft.ts'
import type { JobDialogKind } from './job-actions.tsx'

const words = {
  enable: { call: 'jobs.enable', verb: 'Enable', pending: 'Enabling…', means: 'Its runs go on at once.' },
  pause: {
    call: 'jobs.pause',
    verb: 'Pause',
    pending: 'Pausing…',
    means: 'Its runs wait until it is enabled. Those that run now go on.',
  },
  disable: {
    call: 'jobs.disable',
    verb: 'Disable',
    pending: 'Disabling…',
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
  const { call, verb, pending, means } = words[kind]
  const action = useAction(call, {
    said: () => `${verb}d ${name}.`,
    onDone: onClose,
    // Back to what it was: a disabled job was not paused.
    undo: () =>
      undoBy(kind !== 'enable' ? 'jobs.enable' : state === 'disabled' ? 'jobs.disable' : 'jobs.pause', {
        params: { name },
        body: { reason: undoReason },
      }),
  })
  return (
    <ActionDialog
      title={`${verb} ${name}?`}
      verb={verb}
      pendingVerb={pending}
      action={action}
      reason="optional"
      onClose={onClose}
      onConfirm={(reason) =>
        action.mutate({ params: { name }, body: reason === undefined ? {} : { reason } })
      }
    >
      <p className="quiet">{means}</p>
    </ActionDialog>
  )
}

/** Starts a run by hand and goes to it, to follow its log. */
function TriggerDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const id = useId()
  const navigate = useNavigate()
  const [input, setInput, dropDraft] = useDraft(`trigger:${name}`, '')
  const action = useAction('jobs.trigger', {
    said: () => `Triggered ${name}.`,
    onDone: ({ id: run }) => {
      dropDraft()
      onClose()
      void navigate({ to: '/runs/$id', params: { id: run } })
    },
  })
  const payload = parse(input)
  return (
    <ActionDialog
      title={`Trigger ${name}?`}
      verb="Trigger"
      pendingVerb="Triggering…"
      action={action}
      reason="optional"
      isReady={payload.isRight}
      onClose={onClose}
      onConfirm={(reason) =>
        action.mutate({
          params: { name },
          body: {
            ...(payload.value !== undefined && { payload: payload.value }),
            ...(reason !== undefined && { reason }),
          },
        })
      }
    >
      <div className="field">
        <label htmlFor={id}>Input, as JSON (empty: as it is scheduled)</label>
        <textarea
          id={id}
          className="input mono"
          spellCheck={false}
          value={input}
          aria-invalid={!payload.isRight}
          aria-describedby={`${id}-problem`}
          onChange={({ target }) => setInput(target.value)}
        />
        <span id={`${id}-problem`} className="problem" role="status">
          {payload.isRight ? '' : 'This is no JSON yet.'}
        </span>
      </div>
    </ActionDialog>
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
