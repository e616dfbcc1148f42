import { useState } from 'react'
import type { Answer } from '../../api/call.ts'
import type { CallName } from '../../api/calls.ts'
import { useAction } from '../../api/use-action.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { because, CallDialog } from '../../parts/call-dialog.tsx'
import { ChoiceField } from '../../parts/labelled-field.tsx'
import { countOf } from '../../parts/numbers.ts'
import { undoBy, undoReason } from '../../parts/undo.ts'
import type { EndpointDialog } from './endpoint-actions.tsx'
import { NewSecret } from './endpoint-review.tsx'
import { TestDialog } from './test-dialog.tsx'

type Switch = Exclude<EndpointDialog, 'test' | 'rotate'>

interface SwitchWords {
  readonly call: CallName & `endpoints.${'pause' | 'resume' | 'enable' | 'disable' | 'resetCircuit'}`
  readonly title: (name: string) => string
  readonly means: (wait: string) => string
  readonly verb: string
  readonly pendingVerb?: string
  readonly said: string
  /** What takes it back. */
  readonly inverse?: SwitchWords['call']
}

const switches: Readonly<Record<Switch, SwitchWords>> = {
  pause: {
    call: 'endpoints.pause',
    title: (name) => `Pause ${name}?`,
    means: (wait) =>
      `Nothing more is sent until it is resumed; events are accepted and kept. ${wait}. The give-up timer is paused too. Requests that are out now are finished.`,
    verb: 'Pause',
    said: 'Paused',
    inverse: 'endpoints.resume',
  },
  resume: {
    call: 'endpoints.resume',
    title: (name) => `Resume ${name}?`,
    means: (wait) => `Sending begins at once, at the endpoint's limits. ${wait}.`,
    verb: 'Resume',
    said: 'Resumed',
    inverse: 'endpoints.pause',
  },
  enable: {
    call: 'endpoints.enable',
    title: (name) => `Enable ${name}?`,
    means: (wait) => `Sending begins at once, at the endpoint's limits. ${wait}.`,
    verb: 'Enable',
    said: 'Enabled',
    inverse: 'endpoints.disable',
  },
  disable: {
    call: 'endpoints.disable',
    title: (name) => `Disable ${name}?`,
    means: (wait) =>
      `Nothing is sent until somebody enables it; what is owed is kept. ${wait}. To stop for a while, pause it instead.`,
    verb: 'Disable',
    said: 'Disabled',
    inverse: 'endpoints.enable',
  },
  reset: {
    call: 'endpoints.resetCircuit',
    title: (name) => `Reset the circuit of ${name}?`,
    means: (wait) =>
      `The circuit closes and a hold is cleared, so that sending begins at once. ${wait}. If the receiver still fails, the circuit opens again.`,
    verb: 'Reset circuit',
    pendingVerb: 'Resetting…',
    said: 'Reset the circuit of',
  },
}

export function EndpointDialogs({
  name,
  dialog,
  health,
  onClose,
}: {
  readonly name: string
  readonly dialog: EndpointDialog
  readonly health: Answer<'endpoints.health'>
  readonly onClose: () => void
}) {
  if (dialog === 'test') return <TestDialog name={name} onClose={onClose} />
  if (dialog === 'rotate') return <RotateDialog name={name} onClose={onClose} />
  return <SwitchDialog name={name} words={switches[dialog]} pending={health.pending} onClose={onClose} />
}

function SwitchDialog({
  name,
  words,
  pending,
  onClose,
}: {
  readonly name: string
  readonly words: SwitchWords
  readonly pending: number
  readonly onClose: () => void
}) {
  const { inverse } = words
  const wait =
    pending === 0
      ? 'Nothing waits'
      : `${countOf(pending, 'delivery', 'deliveries')} ${pending === 1 ? 'waits' : 'wait'}`
  return (
    <CallDialog
      call={words.call}
      input={(reason) => ({ params: { name }, body: because(reason) })}
      title={words.title(name)}
      verb={words.verb}
      {...(words.pendingVerb !== undefined && { pendingVerb: words.pendingVerb })}
      reason="optional"
      said={() => `${words.said} ${name}.`}
      {...(inverse !== undefined && {
        undo: () => undoBy(inverse, { params: { name }, body: { reason: undoReason } }),
      })}
      means={words.means(wait)}
      onClose={onClose}
    />
  )
}

const overlaps = [
  [86_400_000, 'A day'],
  [3_600_000, 'An hour'],
  [604_800_000, 'A week'],
  [0, 'None: the old secret leaked'],
] as const

function RotateDialog({ name, onClose }: { readonly name: string; readonly onClose: () => void }) {
  const [overlapMs, setOverlapMs] = useState<number>(overlaps[0][0])
  const action = useAction('endpoints.rotateSecret', { said: () => `Rotated the secret of ${name}.` })
  if (action.data?.secret !== undefined) {
    return <NewSecret name={name} secret={action.data.secret} onClose={onClose} />
  }
  return (
    <ActionDialog
      title={`Rotate the signing secret of ${name}?`}
      verb="Rotate secret"
      pendingVerb="Rotating…"
      action={action}
      reason="optional"
      onClose={onClose}
      onConfirm={(reason) => action.mutate({ params: { name }, body: { overlapMs, ...because(reason) } })}
    >
      <p className="quiet">
        Requests carry two signatures for a while, so that the receiver can change over without a gap.
      </p>
      <ChoiceField
        label="Both secrets sign for"
        value={String(overlapMs)}
        choices={overlaps.map(([ms, words]) => [String(ms), words] as const)}
        onChange={(ms) => setOverlapMs(Number(ms))}
      />
    </ActionDialog>
  )
}
