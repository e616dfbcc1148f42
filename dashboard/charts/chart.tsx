import 'uplot/dist/uPlot.min.css'
import { useEffect, useRef, useSyncExternalStore } from 'react'
import uPlot from 'uplot'
import { usePreferences } from '../frame/preferences.ts'
import { serverNowMs } from '../live/server-clock.ts'
import { formatShort, formatTickMs } from '../parts/numbers.ts'
import type { ChartProps } from './lazy-chart.tsx'

const heightPx = 150

/** One chart of lines; the legend above it is the readout, and a hidden table has the data. */
export function Chart({ at, series, unit, spanMs, marks = [] }: ChartProps) {
  const holder = useRef<HTMLDivElement>(null)
  const { zone, theme } = usePreferences()
  const isDark = useIsDark()
  const data = [at.map((time) => Date.parse(time) / 1000), ...series.map(({ values }) => values)]
  const text = JSON.stringify([data, marks, zone, theme, isDark, spanMs])
  // oxlint-disable-next-line react/exhaustive-deps -- the text stands for all of it
  useEffect(() => {
    const element = holder.current
    if (element === null) return undefined
    const style = getComputedStyle(element)
    const colour = (name: string): string => style.getPropertyValue(`--${name}`).trim()
    // Letters stand above the lines, not on them.
    const roomAbove = marks.length > 0 ? 1.25 : 1.1
    const axis: uPlot.Axis = {
      stroke: colour('ink-3'),
      grid: { stroke: colour('line'), width: 1 },
      ticks: { show: false },
      font: `11px ${style.fontFamily}`,
    }
    const plot = new uPlot(
      {
        width: element.clientWidth,
        height: heightPx,
        ...(zone === 'utc' && { tzDate: (seconds: number) => uPlot.tzDate(new Date(seconds * 1000), 'UTC') }),
        legend: { show: false },
        cursor: { show: false },
        scales: {
          x: { range: () => [(serverNowMs() - spanMs) / 1000, serverNowMs() / 1000] },
          y: { range: (_plot, _min, max) => [0, Math.max(max * roomAbove, 1)] },
        },
        axes: [
          {
            ...axis,
            grid: { show: false },
            size: 24,
            values: (_plot, seconds) => formatTicks(seconds, spanMs, zone),
          },
          {
            ...axis,
            size: 46,
            values: (_plot, values) => values.map(unit === 'ms' ? formatTickMs : formatShort),
          },
        ],
        series: [
          {},
          ...series.map(({ colour: name, dash, isFilled }) => ({
            stroke: colour(name),
            width: 1.5,
            ...(isFilled === true && { fill: `color-mix(in srgb, ${colour(name)} 12%, transparent)` }),
            ...(dash !== undefined && { dash: [...dash] }),
            // A line needs two steps; a few of them are seen as dots.
            points: { show: at.length < 12, size: 5 },
            spanGaps: false,
          })),
        ],
        hooks: { draw: [(drawn) => drawMarks(drawn, marks, colour('ink-3'), colour('surface'))] },
      },
      data as uPlot.AlignedData,
      element,
    )
    const observer = new ResizeObserver(() => plot.setSize({ width: element.clientWidth, height: heightPx }))
    observer.observe(element)
    return () => {
      observer.disconnect()
      plot.destroy()
    }
  }, [text])
  return <div ref={holder} aria-hidden="true" className="px-2 pb-2" />
}

const darkness = window.matchMedia('(prefers-color-scheme: dark)')

/** A canvas doesn't follow the colours of the system by itself. */
function useIsDark(): boolean {
  return useSyncExternalStore(
    (listener) => {
      darkness.addEventListener('change', listener)
      return () => darkness.removeEventListener('change', listener)
    },
    () => darkness.matches,
  )
}

/** Lettered lines where something was changed, so that a cause is seen next to its effect. */
function drawMarks(
  plot: uPlot,
  marks: NonNullable<ChartProps['marks']>,
  colour: string,
  background: string,
): void {
  const { ctx, bbox } = plot
  const ratio = uPlot.pxRatio
  ctx.save()
  for (const { x, label } of placeMarks(plot, marks)) {
    const width = (label.length === 1 ? 14 : 26) * ratio
    // What is near the edge leans inwards.
    const left = Math.min(x - width / 2, bbox.left + bbox.width - width + 7 * ratio)
    ctx.strokeStyle = colour
    ctx.setLineDash([2 * ratio, 3 * ratio])
    ctx.beginPath()
    ctx.moveTo(x, bbox.top)
    ctx.lineTo(x, bbox.top + bbox.height)
    ctx.stroke()
    ctx.setLineDash([])
    ctx.fillStyle = background
    ctx.fillRect(left, bbox.top, width, 14 * ratio)
    ctx.strokeRect(left, bbox.top, width, 14 * ratio)
    ctx.fillStyle = colour
    ctx.font = `600 ${10 * ratio}px sans-serif`
    ctx.textAlign = 'center'
    ctx.fillText(label, left + width / 2, bbox.top + 10.5 * ratio)
  }
  ctx.restore()
}

const minGapPx = 18

/** Where each mark goes, from left to right. Those that would cover each other are one: `A–D`. */
function placeMarks(plot: uPlot, marks: NonNullable<ChartProps['marks']>): { x: number; label: string }[] {
  const { left, width } = plot.bbox
  const placed: { x: number; letters: string[] }[] = []
  const known = marks
    .map(({ at, letter }) => ({ x: Math.round(plot.valToPos(Date.parse(at) / 1000, 'x', true)), letter }))
    .filter(({ x }) => x >= left && x <= left + width)
    .toSorted((first, second) => first.x - second.x || first.letter.localeCompare(second.letter))
  for (const { x, letter } of known) {
    const last = placed.at(-1)
    if (last !== undefined && x - last.x < minGapPx * uPlot.pxRatio) last.letters.push(letter)
    else placed.push({ x, letters: [letter] })
  }
  return placed.map(({ x, letters }) => ({
    x,
    label: letters.length === 1 ? (letters[0] ?? '') : `${letters[0]}–${letters.at(-1)}`,
  }))
}

const dayMs = 86_400_000

/** `02:30`; over days, `Mon 16` where one begins. */
function formatTicks(seconds: readonly number[], spanMs: number, zone: 'local' | 'utc'): string[] {
  const timeZone = zone === 'utc' ? 'UTC' : undefined
  const time = new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' })
  const day = new Intl.DateTimeFormat('en-GB', { timeZone, weekday: 'short', day: 'numeric' })
  return seconds.map((at) => {
    const text = time.format(at * 1000)
    return text === '00:00' || spanMs > 2 * dayMs ? day.format(at * 1000) : text
  })
}
