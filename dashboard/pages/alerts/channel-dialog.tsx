import { useState } from 'react'
import type { Answer, Input } from '../../api/call.ts'
import type { Field } from '../../forms/field.ts'
import { FormDialog } from '../../forms/form-dialog.tsx'
import { useForm } from '../../forms/use-form.ts'
import { CallDialog } from '../../parts/call-dialog.tsx'
import { DeleteDialog } from '../../parts/delete-dialog.tsx'
import { undoBy } from '../../parts/undo.ts'
import { NewSecret } from '../endpoints/endpoint-review.tsx'

export type Channel = Answer<'alerts.listChannels'>['data'][number]
export type ChannelChoice =
  | { readonly dialog: 'new' }
  | { readonly dialog: 'switch' | 'delete'; readonly channel: Channel }

export function ChannelDialog({
  choice,
  onClose,
}: {
  readonly choice: ChannelChoice
  readonly onClose: () => void
}) {
  if (choice.dialog === 'new') return <NewChannel onClose={onClose} />
  const { name, enabled } = choice.channel
  const params = { name }
  if (choice.dialog === 'switch') {
    const verb = enabled ? 'Disable' : 'Enable'
    return (
      <CallDialog
        call={enabled ? 'alerts.disableChannel' : 'alerts.enableChannel'}
        input={() => ({ params })}
        title={`${verb} the channel ${name}?`}
        verb={verb}
        said={() => `${verb}d ${name}.`}
        undo={() => undoBy(enabled ? 'alerts.enableChannel' : 'alerts.disableChannel', { params })}
        means={enabled ? 'Alerts are no longer sent here.' : 'Alerts are sent here again.'}
        onClose={onClose}
      />
    )
  }
  return (
    <DeleteDialog
      call="alerts.deleteChannel"
      input={() => ({ params })}
      name={name}
      what="the channel"
      means="Its endpoint is deleted too, and pending notices are cancelled. To stop it for a while, disable it instead."
      onClose={onClose}
    />
  )
}

const http = [
  { path: 'kind', is: 'webhook' },
  { path: 'kind', is: 'slack' },
] as const
const email = { path: 'kind', is: 'email' } as const

const fields: readonly Field[] = [
  {
    path: 'kind',
    label: 'Sends to',
    description: '',
    kind: 'choice',
    choices: ['webhook', 'slack', 'email', 'log'],
    isRequired: true,
  },
  {
    path: 'name',
    description: '1 to 40 lower-case letters, digits or hyphens.',
    kind: 'text',
    pattern: '^[a-z0-9][a-z0-9-]{0,39}$',
    isRequired: true,
  },
  // The address of a Slack channel is a secret by itself: it isn't kept in the browser.
  ...http.map(
    (when): Field => ({
      path: 'url',
      label: 'URL',
      description:
        when.is === 'slack' ? 'Where notices are posted; stored encrypted.' : 'Where notices are posted.',
      kind: 'text',
      maxLength: 2048,
      isRequired: true,
      isSecret: true,
      when,
    }),
  ),
  {
    path: 'to',
    label: 'To',
    description: 'E-mail addresses, at most 20.',
    kind: 'list',
    item: { kind: 'text', maxLength: 320 },
    minItems: 1,
    maxItems: 20,
    isRequired: true,
    when: email,
  },
  {
    path: 'from',
    label: 'From',
    description: 'Empty: as the node is configured.',
    kind: 'text',
    maxLength: 320,
    when: email,
  },
]

const newChannel = { kind: 'webhook' }

function NewChannel({ onClose }: { readonly onClose: () => void }) {
  const state = useForm('alert-channel:+new', fields, newChannel)
  const [secret, setSecret] = useState<{ readonly name: string; readonly text: string } | null>(null)
  if (secret !== null) return <NewSecret name={secret.name} secret={secret.text} onClose={onClose} />
  return (
    <FormDialog
      call="alerts.createChannel"
      input={(form) => ({ body: form.whole as unknown as Input<'alerts.createChannel'>['body'] })}
      state={state}
      fields={fields}
      isNew
      title="New alert channel"
      verb="Create channel"
      said={({ name }) => `Created ${name}.`}
      means="For a webhook, Slack or e-mail, Holdfast creates an endpoint that delivers the alerts, with retries. The channel “log” writes them to the log of the node."
      onClose={onClose}
      onDone={({ name, signingSecret }) => {
        if (signingSecret === undefined) onClose()
        else setSecret({ name, text: signingSecret })
      }}
    />
  )
}
