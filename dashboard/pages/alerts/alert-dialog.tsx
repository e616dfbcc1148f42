import { useState } from 'react'
import { useAction } from '../../api/use-action.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { undoBy } from '../../parts/undo.ts'
import type { Alert } from './alerts-page.tsx'

const silences = [
  [0, 'Only acknowledge: no more reminders'],
  [3_600_000, 'Silence for an hour'],
  [8 * 3_600_000, 'Silence for eight hours'],
  [86_400_000, 'Silence for a day'],
] as const

/** Somebody looks after it; a silence also keeps its end from being told. */
export function AlertDialog({ alert, onClose }: { readonly alert: Alert; readonly onClose: () => void }) {
  const [silenceMs, setSilenceMs] = useState(0)
  const params = { id: alert.id }
  const what = `${alert.rule} of ${alert.subject}`
  const acknowledge = useAction('alerts.acknowledge', {
    said: () => `Acknowledged ${what}.`,
    onDone: onClose,
    undo: () => undoBy('alerts.withdrawAcknowledgement', { params }),
  })
  const silence = useAction('alerts.silence', {
    said: () => `Silenced ${what}.`,
    onDone: onClose,
    undo: () => undoBy('alerts.silence', { params, body: { until: alert.silencedUntil } }),
  })
  return (
    <ActionDialog
      title={`Acknowledge ${what}?`}
      verb={silenceMs === 0 ? 'Acknowledge' : 'Silence'}
      pendingVerb="Saving…"
      action={silenceMs === 0 ? acknowledge : silence}
      reason="optional"
      onClose={onClose}
      onConfirm={(note) => {
        const said = note === undefined ? {} : { note }
        if (silenceMs === 0) acknowledge.mutate({ params, body: said })
        else
          silence.mutate({ params, body: { until: new Date(Date.now() + silenceMs).toISOString(), ...said } })
      }}
    >
      <div className="field">
        <label htmlFor="silence">Notices</label>
        <select
          id="silence"
          className="input"
          value={silenceMs}
          onChange={({ target }) => setSilenceMs(Number(target.value))}
        >
          {silences.map(([ms, label]) => (
            <option key={ms} value={ms}>
              {label}
            </option>
          ))}
        </select>
      </div>
    </ActionDialog>
  )
}
