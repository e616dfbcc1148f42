import { useId, useState } from 'react'
import { type Role, roles } from '../../../src/core/access/roles.ts'
import { useAction } from '../../api/use-action.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { CopyButton } from '../../parts/copy-button.tsx'
import { Modal } from '../../parts/modal.tsx'
import { Note } from '../../parts/note.tsx'
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
  const id = useId()
  const [name, setName] = useState('')
  const [role, setRole] = useState<Role>('publisher')
  const action = useAction('access.createKey', { said: () => `Made the key ${name}.` })
  if (action.data !== undefined) {
    return (
      <Modal
        title={`The key ${action.data.name}`}
        onClose={onClose}
        footer={
          <button type="button" className="button primary" onClick={onClose}>
            I have it
          </button>
        }
      >
        <Note tone="warn" lead="It is shown this once.">
          Only a hash of it is stored.
        </Note>
        <pre className="code wrap">{action.data.key}</pre>
        <CopyButton text={action.data.key} />
      </Modal>
    )
  }
  return (
    <ActionDialog
      title="New API key"
      verb="Make key"
      pendingVerb="Making…"
      action={action}
      isReady={name.trim() !== ''}
      onClose={onClose}
      onConfirm={() => action.mutate({ body: { name: name.trim(), role } })}
    >
      <div className="field">
        <label htmlFor={`${id}-name`}>Who uses it</label>
        <input
          id={`${id}-name`}
          className="input"
          maxLength={100}
          autoComplete="off"
          value={name}
          onChange={({ target }) => setName(target.value)}
        />
        <span className="hint">Shown in the audit log.</span>
      </div>
      <div className="field">
        <label htmlFor={`${id}-role`}>Role</label>
        <select
          id={`${id}-role`}
          className="input"
          value={role}
          onChange={({ target }) => setRole(target.value as Role)}
        >
          {roles.map((one) => (
            <option key={one} value={one}>
              {one}: {meanings[one]}
            </option>
          ))}
        </select>
      </div>
    </ActionDialog>
  )
}

function RevokeDialog({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const action = useAction('access.revokeKey', { said: () => `Revoked ${apiKey.name}.`, onDone: onClose })
  return (
    <ActionDialog
      title={`Revoke the key ${apiKey.name}?`}
      verb="Revoke"
      pendingVerb="Revoking…"
      isDanger
      typed={apiKey.name}
      action={action}
      onClose={onClose}
      onConfirm={() => action.mutate({ params: { id: apiKey.id } })}
    >
      <p className="quiet">
        It stops working at once, and so do the sessions of those who signed in with it. This can't be undone.
      </p>
    </ActionDialog>
  )
}
