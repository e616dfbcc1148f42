import { Link, useSearch } from '@tanstack/react-router'
import { useApi } from '../../api/use-api.ts'
import { defaultRange, rangeMs, rangeNames } from '../../frame/time-range.ts'
import { useNowMs } from '../../live/server-clock.ts'
import { Icon } from '../../parts/icon.tsx'
import { countOf, formatSpan } from '../../parts/numbers.ts'
import { stateLook } from '../../parts/states.ts'
import { Time } from '../../parts/time.tsx'
import { type CircuitInterval, type CircuitState, circuitIntervals } from './circuit-intervals.ts'

const maxChanges = 200
const listed = 5
const colours: Readonly<Record<CircuitState, string>> = {
  closed: 'var(--line)',
  open: 'var(--bad)',
  half_open: 'var(--warn)',
}

/** When the circuit was open: a strip over the time range, and the last openings as a list. */
export function CircuitCard({ name, state }: { readonly name: string; readonly state: CircuitState }) {
  const { range = defaultRange } = useSearch({ strict: false })
  const nowMs = useNowMs()
  const { data } = useApi(
    'circuitChanges.list',
    { query: { endpoint: name, limit: maxChanges } },
    { topics: ['changes'] },
  )
  if (data === undefined) return null
  const fromMs = nowMs - rangeMs[range]
  const intervals = circuitIntervals(data.data, state, fromMs, nowMs)
  const openings = openingsOf(intervals)
  const openMs = openings.reduce((sum, one) => sum + one.toMs - one.fromMs, 0)
  const sentence =
    openings.length === 0
      ? 'closed all the time'
      : `opened ${openings.length === 1 ? 'once' : countOf(openings.length, 'time')}, not closed for ${formatSpan(openMs)}`
  return (
    <section className="card" aria-label="Circuit">
      <header>
        <h2>Circuit, last {rangeNames[range]}</h2>
        <span className="hint">{sentence}</span>
        <Link
          to="/endpoints/$name"
          params={{ name }}
          search={(before) => ({ ...before, tab: 'history' as const })}
        >
          History
        </Link>
      </header>
      <div className="body grid gap-2">
        <Strip intervals={intervals} fromMs={fromMs} toMs={nowMs} sentence={sentence} />
        <div className="flex justify-between hint" aria-hidden="true">
          <Time at={new Date(fromMs)} />
          <span>now</span>
        </div>
        {openings.length > 0 && (
          <ol className="grid gap-1">
            {openings
              .slice(-listed)
              .toReversed()
              .map((opening) => (
                <Opening key={opening.fromMs} opening={opening} isLasting={opening.toMs >= nowMs} />
              ))}
          </ol>
        )}
        <ul className="flex flex-wrap gap-4 hint" aria-label="Legend">
          {(['closed', 'open', 'half_open'] as const).map((one) => (
            <li key={one} className="inline-flex items-center gap-1">
              <span
                className="inline-block w-3 h-2 border border-line-strong"
                style={{ background: colours[one] }}
              />
              {one === 'half_open' ? 'Half-open (a probe is out)' : stateLook('circuit', one).word}
            </li>
          ))}
        </ul>
      </div>
    </section>
  )
}

/** Open and half-open in a row are one outage. */
function openingsOf(intervals: readonly CircuitInterval[]): readonly CircuitInterval[] {
  const openings: CircuitInterval[] = []
  for (const interval of intervals) {
    if (interval.state === 'closed') continue
    const last = openings.at(-1)
    if (last?.toMs === interval.fromMs) openings.splice(-1, 1, { ...last, toMs: interval.toMs })
    else openings.push(interval)
  }
  return openings
}

function Opening({ opening, isLasting }: { readonly opening: CircuitInterval; readonly isLasting: boolean }) {
  return (
    <li className="flex items-center gap-2">
      <span className={`state ${isLasting ? 'bad' : 'neutral'}`}>
        <Icon name="circuitOpen" />
        <span>
          Opened <Time at={new Date(opening.fromMs)} />
        </span>
      </span>
      <span className="quiet">
        {isLasting ? 'still open, for ' : 'for '}
        {formatSpan(opening.toMs - opening.fromMs)}
      </span>
    </li>
  )
}

function Strip({
  intervals,
  fromMs,
  toMs,
  sentence,
}: {
  readonly intervals: readonly CircuitInterval[]
  readonly fromMs: number
  readonly toMs: number
  readonly sentence: string
}) {
  const span = Math.max(1, toMs - fromMs)
  return (
    <svg
      width="100%"
      height="12"
      viewBox="0 0 1000 12"
      preserveAspectRatio="none"
      role="img"
      aria-label={`Circuit: ${sentence}`}
    >
      {intervals.map(({ state, fromMs: start, toMs: end }) => {
        // A short opening is seen too.
        const width = Math.max(state === 'closed' ? 0 : 3, ((end - start) / span) * 1000)
        const x = Math.min(((start - fromMs) / span) * 1000, 1000 - width)
        return (
          <rect
            key={start}
            x={x}
            y={state === 'closed' ? 4 : 0}
            width={width}
            height={state === 'closed' ? 4 : 12}
            fill={colours[state]}
          />
        )
      })}
    </svg>
  )
}
