import { useState } from 'react'
import type { Input } from '../../api/call.ts'
import { serverNowMs } from '../../live/server-clock.ts'
import { CallDialog } from '../../parts/call-dialog.tsx'
import { ChoiceField } from '../../parts/labelled-field.tsx'
import { Time } from '../../parts/time.tsx'

type SilenceCall = 'alerts.silence' | 'alerts.silenceRule'

const hourMs = 3_600_000
const silences = [
  [hourMs, 'for an hour'],
  [8 * hourMs, 'for eight hours'],
  [24 * hourMs, 'for a day'],
  [7 * 24 * hourMs, 'for a week'],
] as const

/** No notices of a rule or an alert for a while; or again. */
export function SilenceDialog<Name extends SilenceCall>({
  call,
  title,
  means,
  subject,
  silencedUntil,
  input,
  undo,
  onClose,
}: {
  readonly call: Name
  readonly title: string
  readonly means: string
  readonly subject: string
  readonly silencedUntil: string | null
  readonly input: (until: string | null, note: { readonly note?: string }) => Input<Name>
  readonly undo: () => () => Promise<unknown>
  readonly onClose: () => void
}) {
  const isSilenced = silencedUntil !== null && Date.parse(silencedUntil) > serverNowMs()
  const [ms, setMs] = useState(isSilenced ? '0' : String(hourMs))
  const choices = silences.map(([span, words]) => [String(span), `Silence ${words}`] as const)
  return (
    <CallDialog
      call={call}
      input={(reason) =>
        input(
          ms === '0' ? null : new Date(serverNowMs() + Number(ms)).toISOString(),
          reason === undefined ? {} : { note: reason },
        )
      }
      title={title}
      verb={ms === '0' ? 'End silence' : 'Silence'}
      pendingVerb="Saving…"
      reason="optional"
      said={() => (ms === '0' ? `Notices of ${subject} are sent again.` : `Silenced ${subject}.`)}
      undo={undo}
      means={means}
      onClose={onClose}
    >
      {isSilenced && (
        <p>
          Silenced until <Time at={silencedUntil} />.
        </p>
      )}
      <ChoiceField
        label="Notices"
        value={ms}
        choices={isSilenced ? [['0', 'Send notices again'], ...choices] : choices}
        onChange={setMs}
      />
    </CallDialog>
  )
}
