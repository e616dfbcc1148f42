import { lazy, Suspense } from 'react'
import { formatCount } from '../parts/numbers.ts'
import { Time } from '../parts/time.tsx'

export interface ChartSeries {
  readonly name: string
  readonly values: readonly (number | null)[]
  /** A colour token. */
  readonly colour: 'accent' | 'series-2' | 'bad' | 'warn' | 'ok' | 'ink-2'
  readonly dash?: readonly number[]
  readonly isFilled?: boolean
  /** The last value in words. */
  readonly readout: string
}

export interface ChartProps {
  readonly at: readonly string[]
  readonly series: readonly ChartSeries[]
  /** What the values are; counts when left out. */
  readonly unit?: 'ms'
  /** How far back the chart reaches, however few steps there are. */
  readonly spanMs: number
  readonly marks?: readonly { readonly at: string; readonly letter: string }[]
}

const Chart = lazy(async () => ({ default: (await import('./chart.tsx')).Chart }))

/** A card with a chart; the library is loaded when the first is shown. */
export function ChartCard({
  title,
  hint,
  sentence,
  ...chart
}: ChartProps & {
  readonly title: string
  readonly hint: string
  /** What the chart shows, for those who can't see it. */
  readonly sentence: string
}) {
  return (
    <section className="card" aria-label={title}>
      <header className="border-b-0!">
        <h2>{title}</h2>
        <span className="hint">{hint}</span>
      </header>
      <div className="legend" aria-hidden="true">
        {chart.series.map(({ name, colour, dash, readout }) => (
          <span key={name}>
            <svg width="14" height="4" viewBox="0 0 14 4">
              <path
                d="M0 2h14"
                stroke={`var(--${colour})`}
                strokeWidth="2"
                {...(dash !== undefined && { strokeDasharray: dash.join(' ') })}
              />
            </svg>
            {name} <b>{readout}</b>
          </span>
        ))}
      </div>
      <p className="vh">
        {sentence}
        {(chart.marks ?? []).length > 0 &&
          ` Marked: ${(chart.marks ?? [])
            .map(({ letter }) => letter)
            .toReversed()
            .join(', ')}.`}
      </p>
      {chart.at.length === 0 ? (
        <p className="hint px-4 h-[158px] grid place-items-center">Nothing in this time range.</p>
      ) : (
        <>
          <div className="min-h-[158px]">
            <Suspense>
              <Chart {...chart} />
            </Suspense>
          </div>
          <DataOfChart {...chart} />
        </>
      )}
    </section>
  )
}

const shownSteps = 12

/** The newest steps as numbers. */
function DataOfChart({ at, series }: ChartProps) {
  const first = Math.max(0, at.length - shownSteps)
  return (
    <div className="vh">
      <table>
        <thead>
          <tr>
            <th scope="col">Time</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {at.slice(first).map((time, place) => (
            <tr key={time}>
              <td>
                <Time at={time} />
              </td>
              {series.map(({ name, values }) => {
                const value = values[first + place] ?? null
                return (
                  <td key={name}>{value === null ? 'none' : formatCount(Math.round(value * 10) / 10)}</td>
                )
              })}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
