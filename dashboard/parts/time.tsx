import type { SyntheticEvent } from 'react'
import { usePreferences } from '../frame/preferences.ts'
import { useMinuteMs, useNowMs } from '../live/server-clock.ts'
import { formatSpan } from './numbers.ts'
import { formatExactTime, formatTime } from './times.ts'

interface TimeProps {
  readonly at: string | Date | null
  /** `ago`: `23 min`. `in`: `in 22 s`, then `due now`. */
  readonly as?: 'clock' | 'ago' | 'in'
}

/** A moment: relative or by the clock, the exact one when somebody points at it. */
export function Time({ at, as = 'clock' }: TimeProps) {
  if (at === null) return <span className="hint">–</span>
  const date = new Date(at)
  return as === 'clock' ? <ClockTime at={date} /> : <RelativeTime at={date} as={as} />
}

function ClockTime({ at }: { readonly at: Date }) {
  const nowMs = useMinuteMs()
  const { zone } = usePreferences()
  return <Moment at={at} text={formatTime(at, new Date(nowMs), zone)} />
}

function RelativeTime({ at, as }: { readonly at: Date; readonly as: 'ago' | 'in' }) {
  const differenceMs = at.getTime() - useNowMs()
  if (as === 'ago') return <Moment at={at} text={formatSpan(Math.max(0, -differenceMs))} />
  const text = differenceMs <= 0 ? 'due now' : `in ${formatSpan(Math.max(1000, differenceMs))}`
  return <Moment at={at} text={text} />
}

function Moment({ at, text }: { readonly at: Date; readonly text: string }) {
  const { zone } = usePreferences()
  // Written when somebody points at it: a table has hundreds that nobody does.
  const explain = ({ currentTarget }: SyntheticEvent<HTMLTimeElement>): void => {
    currentTarget.title = formatExactTime(at, zone)
  }
  return (
    <time dateTime={at.toISOString()} onMouseEnter={explain}>
      {text}
    </time>
  )
}
