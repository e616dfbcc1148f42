import { formatDuration } from '../../parts/numbers.ts'

const parts = [
  ['dnsMs', 'DNS', 'var(--ink-3)'],
  ['connectMs', 'Connect', 'var(--accent)'],
  ['tlsMs', 'TLS', 'var(--ok)'],
] as const

/** Where the time of an attempt went. */
export function TimingSplit({
  timings,
  totalMs,
}: {
  readonly timings: Readonly<Record<string, number>>
  readonly totalMs: number
}) {
  const total = timings['totalMs'] ?? totalMs
  const known = parts.flatMap(([name, label, colour]) => {
    const ms = timings[name]
    return ms === undefined ? [] : [{ label, ms, colour }]
  })
  const before = known.reduce((sum, { ms }) => sum + ms, 0)
  const firstByte = timings['firstByteMs']
  const waited = Math.max(0, (firstByte ?? total) - before)
  const read = firstByte === undefined ? 0 : Math.max(0, total - firstByte)
  const all = [
    ...known,
    {
      label: 'Waited for the answer',
      ms: waited,
      colour: firstByte === undefined ? 'var(--bad)' : 'var(--series-2)',
    },
    ...(read > 0 ? [{ label: 'Read it', ms: read, colour: 'var(--line-strong)' }] : []),
  ]
  return (
    <div className="grid gap-1">
      <div className="split" aria-hidden="true">
        {all.map(({ label, ms, colour }) => (
          <span key={label} style={{ flexGrow: Math.max(ms, total / 200), background: colour }} />
        ))}
      </div>
      <div className="legend p-0!">
        {all.map(({ label, ms }) => (
          <span key={label}>
            {label} <b>{formatDuration(ms)}</b>
          </span>
        ))}
      </div>
    </div>
  )
}
