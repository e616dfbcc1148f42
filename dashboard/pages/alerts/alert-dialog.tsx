import { CallDialog } from '../../parts/call-dialog.tsx'
import { undoBy } from '../../parts/undo.ts'
import type { Alert } from './alerts-page.tsx'
import { SilenceDialog } from './silence-dialog.tsx'

/** An acknowledged alert sends no reminders; a silenced one sends nothing, not even its end. */
export function AlertDialog({
  dialog,
  alert,
  onClose,
}: {
  readonly dialog: 'acknowledge' | 'silence'
  readonly alert: Alert
  readonly onClose: () => void
}) {
  const params = { id: alert.id }
  const what = `${alert.rule} of ${alert.subject}`
  if (dialog === 'silence') {
    return (
      <SilenceDialog
        call="alerts.silence"
        title={`Silence ${what}?`}
        means="No notice is sent until then, not even when the alert ends."
        subject={what}
        silencedUntil={alert.silencedUntil}
        input={(until, note) => ({ params, body: { until, ...note } })}
        undo={() => undoBy('alerts.silence', { params, body: { until: alert.silencedUntil } })}
        onClose={onClose}
      />
    )
  }
  return (
    <CallDialog
      call="alerts.acknowledge"
      input={(note) => ({ params, body: note === undefined ? {} : { note } })}
      title={`Acknowledge ${what}?`}
      verb="Acknowledge"
      reason="optional"
      said={() => `Acknowledged ${what}.`}
      undo={() => undoBy('alerts.withdrawAcknowledgement', { params })}
      means="You are handling it: no more reminders are sent. A notice is sent when the alert ends."
      onClose={onClose}
    />
  )
}
