import { useId, useState } from 'react'
import type { Answer, Input } from '../../api/call.ts'
import { useAction } from '../../api/use-action.ts'
import { usePreferences } from '../../frame/preferences.ts'
import { ActionDialog } from '../../parts/action-dialog.tsx'
import { countOf, formatCount, formatSpan } from '../../parts/numbers.ts'
import { ProblemNote } from '../../parts/problem-note.tsx'
import { fromField, toField } from '../../parts/time-field.ts'
import { watchOperation } from '../operations/watched-operations.ts'

type Body = Input<'operations.replay'>['body']
type Preview = Answer<'operations.preview'>

const hourMs = 3_600_000
const states = [
  ['', 'in whatever way'],
  ['succeeded', 'delivered'],
  ['failed', 'dead, expired or dropped'],
  ['cancelled', 'cancelled'],
] as const

/** A range of the archive, counted by a dry run before anything is sent. */
export function ReplayRangeDialog({
  onClose,
  onStarted,
}: {
  readonly onClose: () => void
  readonly onStarted: (id: string) => void
}) {
  const id = useId()
  const { zone } = usePreferences()
  const [form, setForm] = useState({
    from: toField(new Date(Date.now() - hourMs), zone),
    to: toField(new Date(), zone),
    endpoint: '',
    eventType: '',
    route: '',
    state: '',
    targetEndpoint: '',
    rate: '50',
  })
  const [counted, setCounted] = useState<{ readonly text: string; readonly preview: Preview } | null>(null)
  const dry = useAction('operations.replay', {
    onDone: (preview) => setCounted({ text: JSON.stringify(form), preview: preview as Preview }),
  })
  const start = useAction('operations.replay', {
    said: () => 'Replay started.',
    onDone: (operation) => {
      const started = operation as Answer<'operations.get'>
      watchOperation(started.id)
      onStarted(started.id)
    },
  })
  const body = bodyOf(form, zone)
  // What was counted is what was asked for: another range has to be counted again.
  const preview = counted?.text === JSON.stringify(form) ? counted.preview : null
  const set = (change: Partial<typeof form>): void => setForm({ ...form, ...change })
  const field = (key: 'endpoint' | 'eventType' | 'route' | 'targetEndpoint' | 'rate', label: string) => (
    <div className="field">
      <label htmlFor={`${id}-${key}`}>{label}</label>
      <input
        id={`${id}-${key}`}
        className="input"
        value={form[key]}
        autoComplete="off"
        spellCheck={false}
        {...(key === 'rate' && { inputMode: 'decimal' as const })}
        onChange={({ target }) => set({ [key]: target.value })}
      />
    </div>
  )
  const time = (key: 'from' | 'to', label: string) => (
    <div className="field">
      <label htmlFor={`${id}-${key}`}>
        {label}, {zone === 'utc' ? 'UTC' : 'local time'}
      </label>
      <input
        id={`${id}-${key}`}
        className="input"
        type="datetime-local"
        step="1"
        value={form[key]}
        aria-invalid={body === null}
        onChange={({ target }) => set({ [key]: target.value })}
      />
    </div>
  )
  return (
    <ActionDialog
      title={
        preview === null ? 'Replay a range?' : `Replay ${countOf(preview.count, 'delivery', 'deliveries')}?`
      }
      verb={preview === null ? 'Replay' : `Replay ${formatCount(preview.count)}`}
      pendingVerb="Starting…"
      action={start}
      reason="optional"
      isReady={preview !== null && preview.count > 0 && body !== null}
      onClose={onClose}
      onConfirm={(reason) => {
        if (body === null || preview === null) return
        start.mutate({ body: { ...body, asOf: preview.asOf, ...(reason !== undefined && { reason }) } })
      }}
    >
      <p className="quiet">
        Each goes out under a new webhook-id: receivers treat it as a new message. Count first; nothing else
        is touched than what was counted.
      </p>
      <div className="grid gap-3 sm:grid-cols-2">
        {time('from', 'From')}
        {time('to', 'To')}
        {field('endpoint', 'Endpoint (empty: all)')}
        {field('eventType', 'Event type (empty: all)')}
        {field('route', 'Route (empty: all)')}
        <div className="field">
          <label htmlFor={`${id}-state`}>That ended</label>
          <select
            id={`${id}-state`}
            className="input"
            value={form.state}
            onChange={({ target }) => set({ state: target.value })}
          >
            {states.map(([value, words]) => (
              <option key={value} value={value}>
                {words}
              </option>
            ))}
          </select>
        </div>
        {field('targetEndpoint', 'To another endpoint (optional)')}
        {field('rate', 'At most so many per second')}
      </div>
      {body === null && (
        <p className="text-bad">The range needs a beginning before its end, and a rate above 0.</p>
      )}
      <div className="flex items-center gap-3">
        <button
          type="button"
          className="button"
          disabled={body === null || dry.isPending}
          onClick={() => body !== null && dry.mutate({ body: { ...body, dryRun: true } })}
        >
          {dry.isPending ? 'Counting…' : 'Dry run'}
        </button>
        <span role="status" className="quiet">
          {preview === null
            ? 'Counts what would be sent.'
            : `${preview.isExact ? '' : 'More than '}${countOf(preview.count, 'delivery', 'deliveries')}${form.rate === '' ? '' : `, about ${formatSpan((preview.count / Number(form.rate)) * 1000)}`}.`}
        </span>
      </div>
      {dry.error !== null && <ProblemNote problem={dry.error} />}
    </ActionDialog>
  )
}

function bodyOf(
  form: Readonly<
    Record<'from' | 'to' | 'endpoint' | 'eventType' | 'route' | 'state' | 'targetEndpoint' | 'rate', string>
  >,
  zone: 'local' | 'utc',
): Body | null {
  const from = fromField(form.from, zone)
  const to = fromField(form.to, zone)
  const rate = form.rate.trim() === '' ? undefined : Number(form.rate)
  if (from === null || to === null || from >= to || (rate !== undefined && !(rate >= 0.01))) return null
  const given = Object.entries({
    endpoint: form.endpoint,
    eventType: form.eventType,
    route: form.route,
    state: form.state,
    targetEndpoint: form.targetEndpoint,
  }).flatMap(([name, value]) => (value.trim() === '' ? [] : [[name, value.trim()] as const]))
  return {
    from: from.toISOString(),
    to: to.toISOString(),
    ...Object.fromEntries(given),
    ...(rate !== undefined && { ratePerSecond: rate }),
  }
}
