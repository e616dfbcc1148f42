import { useState } from 'react'
import { because, CallDialog } from '../../parts/call-dialog.tsx'
import { DeleteDialog } from '../../parts/delete-dialog.tsx'
import { undoBy, undoReason } from '../../parts/undo.ts'
import type { Route } from './route-draft.ts'

export function RouteDialog({
  dialog,
  route: { name, enabled },
  onClose,
  onDeleted,
}: {
  readonly dialog: 'switch' | 'delete'
  readonly route: Route
  readonly onClose: () => void
  readonly onDeleted: () => void
}) {
  const [isForced, setIsForced] = useState(false)
  const verb = enabled ? 'Disable' : 'Enable'
  if (dialog === 'switch') {
    return (
      <CallDialog
        call="routes.update"
        input={(reason) => ({ params: { name }, body: { enabled: !enabled, ...because(reason) } })}
        title={`${verb} ${name}?`}
        verb={verb}
        reason="optional"
        said={() => `${verb}d ${name}.`}
        undo={() => undoBy('routes.update', { params: { name }, body: { enabled, reason: undoReason } })}
        means={
          enabled
            ? 'Events published from now on do not use this route. Its pending deliveries are still made.'
            : 'Events published from now on use this route.'
        }
        onClose={onClose}
      />
    )
  }
  return (
    <DeleteDialog
      call="routes.delete"
      input={(reason) => ({ params: { name }, query: { force: isForced, ...because(reason) } })}
      name={name}
      reason="optional"
      means="A route with pending deliveries cannot be deleted unless you cancel them. To stop it for a while, disable it instead."
      onClose={onClose}
      onDone={onDeleted}
    >
      <label className="check">
        <input type="checkbox" checked={isForced} onChange={({ target }) => setIsForced(target.checked)} />
        Cancel its pending deliveries
      </label>
    </DeleteDialog>
  )
}
