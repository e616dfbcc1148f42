import type { Input } from '../../api/call.ts'
import type { Field } from '../../forms/field.ts'
import { FormDialog } from '../../forms/form-dialog.tsx'
import { useForm } from '../../forms/use-form.ts'
import { because, CallDialog } from '../../parts/call-dialog.tsx'
import { DeleteDialog } from '../../parts/delete-dialog.tsx'
import { formatCount } from '../../parts/numbers.ts'
import { undoBy, undoReason } from '../../parts/undo.ts'
import type { Chosen, Source } from './sources-page.tsx'

interface DialogProps {
  readonly source: Source
  readonly onClose: () => void
}

export function SourceDialog({ chosen, onClose }: { readonly chosen: Chosen; readonly onClose: () => void }) {
  if (chosen.dialog === 'new') return <NewDialog onClose={onClose} />
  const { dialog, source } = chosen
  if (dialog === 'switch') return <SwitchDialog source={source} onClose={onClose} />
  if (dialog === 'retry') return <RetryDialog source={source} onClose={onClose} />
  return <DeleteSourceDialog source={source} onClose={onClose} />
}

const fields: readonly Field[] = [
  {
    path: 'name',
    label: 'Name',
    description: 'Letters a–z, digits, ".", "_" and "-".',
    kind: 'text',
    isRequired: true,
    pattern: '^[a-z0-9][a-z0-9._-]{0,62}$',
  },
  {
    path: 'url',
    label: 'Broker',
    description: 'Like amqps://user:password@rabbit.example:5671/vhost. The password is stored encrypted.',
    kind: 'text',
    isRequired: true,
  },
  { path: 'queue', label: 'Queue', description: 'It must exist.', kind: 'text', isRequired: true },
  {
    path: 'eventType',
    label: 'Event type',
    description: 'With placeholders, like {{ routingKey }} or {{ headers.type }}.',
    kind: 'text',
    isRequired: true,
  },
  {
    path: 'prefetch',
    label: 'Prefetch',
    description: 'Unacknowledged messages that each node may hold.',
    kind: 'integer',
    isRequired: true,
    minimum: 1,
    maximum: 2000,
  },
]

function NewDialog({ onClose }: { readonly onClose: () => void }) {
  const state = useForm('new-source', fields, { eventType: '{{ routingKey }}', prefetch: 100 })
  return (
    <FormDialog
      call="sources.create"
      input={({ whole }) => {
        const { name, ...config } = whole
        return { body: { name, type: 'amqp', config } } as unknown as Input<'sources.create'>
      }}
      state={state}
      fields={fields}
      isNew
      title="New source"
      verb="Create source"
      pendingVerb="Creating…"
      said={({ name }) => `Created ${name}.`}
      means="Every node consumes the queue at once. Each message becomes an event and is acknowledged after the commit."
      onClose={onClose}
    />
  )
}

function SwitchDialog({ source: { name, state }, onClose }: DialogProps) {
  const isActive = state === 'active'
  const verb = isActive ? 'Pause' : 'Resume'
  return (
    <CallDialog
      call={isActive ? 'sources.pause' : 'sources.resume'}
      input={(reason) => ({ params: { name }, body: because(reason) })}
      title={`${verb} the source ${name}?`}
      verb={verb}
      reason="optional"
      said={() => `${verb}d ${name}.`}
      undo={() =>
        undoBy(isActive ? 'sources.resume' : 'sources.pause', {
          params: { name },
          body: { reason: undoReason },
        })
      }
      means={isActive ? 'Nodes disconnect; messages stay in the queue.' : 'Nodes consume the queue again.'}
      onClose={onClose}
    />
  )
}

function RetryDialog({ source: { name, rejects }, onClose }: DialogProps) {
  return (
    <CallDialog
      call="sources.retryRejects"
      input={() => ({ params: { name } })}
      title={`Retry the rejected messages of ${name}?`}
      verb="Retry"
      said={({ published, failed }) =>
        `Published ${formatCount(published)}; ${formatCount(failed)} failed again.`
      }
      means={`${formatCount(rejects)} messages are rejected. The oldest 500 are published with the present mapping; those that fail stay.`}
      onClose={onClose}
    />
  )
}

function DeleteSourceDialog({ source: { name, rejects }, onClose }: DialogProps) {
  return (
    <DeleteDialog
      call="sources.delete"
      input={(reason) => ({ params: { name }, query: { force: true, ...because(reason) } })}
      name={name}
      what="the source"
      reason="optional"
      means={
        rejects === 0
          ? 'Nodes disconnect; messages stay in the queue. Events that were published stay.'
          : `Nodes disconnect. ${formatCount(rejects)} rejected messages are deleted with it and can't be restored.`
      }
      onClose={onClose}
    />
  )
}
