/** Attempts by the hour, failures in red from the bottom; a label says it in words. */
export function Sparkline({
  series,
  label,
}: {
  readonly series: readonly { readonly at: string; readonly attempts: number; readonly successes: number }[]
  readonly label: string
}) {
  const hourMs = 3_600_000
  const last = Math.floor(Date.now() / hourMs)
  const byHour = new Map(series.map((step) => [Math.floor(Date.parse(step.at) / hourMs), step]))
  const most = Math.max(1, ...series.map(({ attempts }) => attempts))
  const height = 18
  return (
    <svg width="95" height={height} viewBox={`0 0 95 ${height}`} role="img" aria-label={label}>
      {Array.from({ length: 24 }, (_, column) => {
        const { attempts = 0, successes = 0 } = byHour.get(last - 23 + column) ?? {}
        const x = column * 4
        if (attempts === 0)
          return <rect key={x} x={x} y={height - 1} width="3" height="1" fill="var(--line-strong)" />
        const whole = Math.max(2, (attempts / most) * height)
        const failed = attempts === successes ? 0 : Math.max(1.5, ((attempts - successes) / attempts) * whole)
        return (
          <g key={x}>
            <rect x={x} y={height - whole} width="3" height={whole - failed} fill="var(--line-strong)" />
            <rect x={x} y={height - failed} width="3" height={failed} fill="var(--bad)" />
          </g>
        )
      })}
    </svg>
  )
}
