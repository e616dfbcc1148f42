import { countOf } from '../../parts/numbers.ts'

const height = 18
/** The server counts no further in an hour. */
const most = 100

/** Letters by the hour, the last 24. A label says it in words. */
export function LetterBars({ series }: { readonly series: readonly number[] }) {
  const highest = Math.max(1, ...series)
  const sum = series.reduce((one, other) => one + other, 0)
  const isCapped = series.some((count) => count >= most)
  return (
    <svg
      width="95"
      height={height}
      viewBox={`0 0 95 ${height}`}
      role="img"
      aria-label={`${isCapped ? 'More than ' : ''}${countOf(sum, 'letter')} in 24 hours`}
    >
      {series.map((count, hour) => {
        const bar = count === 0 ? 1 : Math.max(2, (count / highest) * height)
        return (
          <rect
            // oxlint-disable-next-line react/no-array-index-key -- an hour is its place
            key={hour}
            x={hour * 4}
            y={height - bar}
            width="3"
            height={bar}
            fill={count === 0 ? 'var(--line-strong)' : 'var(--bad)'}
          />
        )
      })}
    </svg>
  )
}
