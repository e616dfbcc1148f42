import { useState } from 'react'
import { type Role, roles } from '../../../src/core/access/roles.ts'
import { useAction } from '../../api/use-action.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { CallDialog } from '../../parts/call-dialog.tsx'
import { ChoiceField, TextField } from '../../parts/labelled-field.tsx'
import { ShownOnce } from '../../parts/shown-once.tsx'
import type { ApiKey } from './api-keys-page.tsx'

export function KeyDialogs({
  dialog,
  onClose,
}: {
  readonly dialog: ApiKey | 'new'
  readonly onClose: () => void
}) {
  if (dialog === 'new') return <NewKeyDialog onClose={onClose} />
  return <RevokeDialog apiKey={dialog} onClose={onClose} />
}

const meanings: Readonly<Record<Role, string>> = {
  viewer: 'looks at everything but keys and the audit log',
  publisher: 'publishes, and reads nothing',
  caller: 'calls endpoints and waits for their answers, and reads nothing',
  operator: 'looks, publishes, pauses, redrives, triggers',
  admin: 'everything',
}

function NewKeyDialog({ onClose }: { readonly onClose: () => void }) {
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('publisher')
  const action = useAction('access.createKey', { said: () => `Created the key ${name}.` })
  if (action.data !== undefined) {
    return (
      <ShownOnce
        title={`The key ${action.data.name}`}
        text={action.data.key}
        means="Only a hash of it is stored."
        onClose={onClose}
      />
    )
  }
  return (
    <ActionDialog
      title="New API key"
      verb="Create key"
      pendingVerb="Creating…"
      action={action}
      isReady={name.trim() !== ''}
      onClose={onClose}
      onConfirm={() => action.mutate({ body: { name: name.trim(), role } })}
    >
      <TextField
        label="Who uses it"
        hint="Shown in the audit log."
        maxLength={100}
        value={name}
        onChange={setName}
      />
      <ChoiceField
        label="Role"
        value={role}
        choices={roles.map((one) => [one, `${one}: ${meanings[one]}`] as const)}
        onChange={(chosen) => setRole(chosen as Role)}
      />
    </ActionDialog>
  )
}

function RevokeDialog({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  return (
    <CallDialog
      call="access.revokeKey"
      input={() => ({ params: { id: apiKey.id } })}
      title={`Revoke the key ${apiKey.name}?`}
      verb="Revoke"
      isDanger
      typed={apiKey.name}
      said={() => `Revoked ${apiKey.name}.`}
      means="It stops working at once, and so do the sessions of those who signed in with it. This can't be undone."
      onClose={onClose}
    />
  )
}
