import { usePreferences } from '../frame/preferences.ts'
import { useNowMs } from '../live/server-clock.ts'
import { formatSpan } from './numbers.ts'
import { formatExactTime, formatTime } from './times.ts'

/** A moment: relative or by the clock, the exact one when somebody points at it. */
export function Time({
  at,
  as = 'clock',
}: {
  readonly at: string | Date | null
  /** `ago`: `23 min`. `in`: `in 22 s`, then `due now`. */
  readonly as?: 'clock' | 'ago' | 'in'
}) {
  const nowMs = useNowMs()
  const { zone } = usePreferences()
  if (at === null) return <span className="hint">–</span>
  const date = new Date(at)
  const differenceMs = date.getTime() - nowMs
  let text = formatTime(date, new Date(nowMs), zone)
  if (as === 'ago') text = formatSpan(Math.max(0, -differenceMs))
  if (as === 'in') text = differenceMs <= 0 ? 'due now' : `in ${formatSpan(Math.max(1000, differenceMs))}`
  return (
    <time dateTime={date.toISOString()} title={formatExactTime(date, zone)}>
      {text}
    </time>
  )
}
