import { formatNumber } from '../../report/format.ts'
import type { Curve, Panel, PointResult } from '../curve.ts'
import { decadeTicks, niceTicks, placeOnAxis } from './axis.ts'

const WIDTH = 860
const MARGIN = 28
const PLOT_LEFT = 88
const PLOT_RIGHT = WIDTH - 84
const PLOT_HEIGHT = 170
const HEADER_HEIGHT = 66
const PANEL_HEADER = 56
const PANEL_FOOTER = 60
const MARKER = 4.5
const LABEL_HEIGHT = 14

/** The file contains its background, so that it is legible on light and dark pages; it follows the reader's preference for dark. */
const STYLE = `
  .ground{fill:#ffffff}.text{fill:#1c2430}.quiet{fill:#5b6675}.grid{stroke:#e3e8ee}.axis{stroke:#9aa5b4}
  .c0{--c:#0f766e}.c1{--c:#b45309}.c2{--c:#4f46e5}
  .line{stroke:var(--c);fill:none;stroke-width:2.25}.mark{fill:var(--c);stroke:#ffffff;stroke-width:1.25}.spread{stroke:var(--c);stroke-width:1.25}
  @media (prefers-color-scheme:dark){
    .ground{fill:#11161d}.text{fill:#e6ebf2}.quiet{fill:#9aa7b8}.grid{stroke:#28313d}.axis{stroke:#5b6675}
    .c0{--c:#2dd4bf}.c1{--c:#fbbf24}.c2{--c:#a5b4fc}.mark{stroke:#11161d}
  }`

/** Draws one panel below the other, all over the same x axis. */
export function renderLineChart(curve: Curve, points: readonly PointResult[], subtitle: string): string {
  const panelHeight = PANEL_HEADER + PLOT_HEIGHT + PANEL_FOOTER
  const height = HEADER_HEIGHT + curve.panels.length * panelHeight
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${height}" viewBox="0 0 ${WIDTH} ${height}" role="img" aria-label="${escape(curve.title)}"`,
    ` font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="13">`,
    `<style>${STYLE}\n</style>`,
    `<rect class="ground" width="${WIDTH}" height="${height}" rx="6"/>`,
    text(MARGIN, 34, curve.title, 'class="text" font-size="18" font-weight="600"'),
    text(MARGIN, 54, subtitle, 'class="quiet" font-size="12"'),
    ...curve.panels.map((panel, index) =>
      renderPanel(panel, curve, points, HEADER_HEIGHT + index * panelHeight),
    ),
    '</svg>\n',
  ].join('\n')
}

function renderPanel(panel: Panel, curve: Curve, points: readonly PointResult[], top: number): string {
  const plotTop = top + PANEL_HEADER
  const bottom = plotTop + PLOT_HEIGHT
  const values = panel.series.flatMap(({ key }) => points.flatMap((each) => valuesOf(each, key)))
  const ticks = panel.isLogarithmic ? decadeTicks(values) : niceTicks(Math.max(...values))
  const [lowest = 0] = ticks
  const highest = ticks.at(-1) ?? 1
  const share = (value: number) =>
    panel.isLogarithmic ? Math.log10(value / lowest) / Math.log10(highest / lowest) : value / highest
  const y = (value: number) => round(bottom - share(value) * PLOT_HEIGHT)
  const xs = placeOnAxis(points.map(({ x }) => x)).map((share) =>
    round(PLOT_LEFT + share * (PLOT_RIGHT - PLOT_LEFT)),
  )
  return [
    text(MARGIN, top + 18, panel.title, 'class="text" font-size="14" font-weight="600"'),
    renderLegend(panel, top + 38),
    ...ticks.map((tick) => `<path class="grid" d="M${PLOT_LEFT - 12} ${y(tick)}H${PLOT_RIGHT + 12}"/>`),
    ...ticks.map((tick) =>
      text(PLOT_LEFT - 20, y(tick) + 4, formatNumber(tick), 'class="quiet" font-size="12" text-anchor="end"'),
    ),
    `<path class="axis" d="M${PLOT_LEFT - 12} ${bottom}H${PLOT_RIGHT + 12}"/>`,
    renderZeroBreak(points, xs, bottom),
    ...points.map(({ x }, index) =>
      text(
        xs[index] ?? 0,
        bottom + 18,
        curve.formatX(x),
        'class="quiet" font-size="12" text-anchor="middle"',
      ),
    ),
    text(
      (PLOT_LEFT + PLOT_RIGHT) / 2,
      bottom + 36,
      curve.axisLabel,
      'class="quiet" font-size="12" text-anchor="middle"',
    ),
    ...panel.series.map(({ key }, index) => renderSeries(key, index, points, xs, y)),
    ...renderLabels(panel, points, xs, y),
  ].join('\n')
}

/** A logarithmic axis has no zero: it is drawn before the axis, with a break. */
function renderZeroBreak(points: readonly PointResult[], xs: readonly number[], bottom: number): string {
  const [first, second] = xs
  if (points[0]?.x !== 0 || first === undefined || second === undefined) return ''
  const middle = round((first + second) / 2)
  return `<path class="axis" fill="none" d="M${middle - 5} ${bottom + 5}l4 -10M${middle + 1} ${bottom + 5}l4 -10"/>`
}

function renderLegend(panel: Panel, baseline: number): string {
  let left = MARGIN
  return panel.series
    .map(({ label }, index) => {
      const entry = [
        `<g class="c${index}"><path class="line" d="M${left} ${baseline - 4}h22"/>${marker(index, left + 11, baseline - 4)}</g>`,
        text(left + 30, baseline, label, 'class="text" font-size="12"'),
      ].join('')
      left += 30 + label.length * 6.2 + 26
      return entry
    })
    .join('\n')
}

function renderSeries(
  key: string,
  index: number,
  points: readonly PointResult[],
  xs: readonly number[],
  y: (value: number) => number,
): string {
  const shown = shownOf(key, points, xs)
  const path = shown.map(({ x, value }, position) => `${position === 0 ? 'M' : 'L'}${x} ${y(value)}`).join('')
  return [
    `<g class="c${index}"><path class="line" d="${path}"/>`,
    ...shown.map(
      ({ x, all }) => `<path class="spread" d="M${x} ${y(Math.min(...all))}V${y(Math.max(...all))}"/>`,
    ),
    ...shown.map(({ x, value }) => marker(index, x, y(value))),
    '</g>',
  ].join('')
}

/** Labels every value of a single series; of several series, only the last value of each, placed so that labels don't overlap. */
function renderLabels(
  panel: Panel,
  points: readonly PointResult[],
  xs: readonly number[],
  y: (value: number) => number,
): string[] {
  const attributes = 'class="text" font-size="12"'
  const series = panel.series.map(({ key }) => shownOf(key, points, xs))
  if (series.length === 1) {
    return series
      .flat()
      .map(({ x, value, all }) =>
        text(x, y(Math.max(...all)) - 10, formatNumber(value), `${attributes} text-anchor="middle"`),
      )
  }
  let below = Number.NEGATIVE_INFINITY
  return series
    .flatMap((shown) => shown.slice(-1))
    .toSorted((one, other) => y(one.value) - y(other.value))
    .map(({ x, value }) => {
      below = Math.max(y(value) + 4, below + LABEL_HEIGHT)
      return text(x + 14, below, formatNumber(value), attributes)
    })
}

interface Shown {
  readonly x: number
  readonly value: number
  /** Values of all rounds. */
  readonly all: readonly number[]
}

function shownOf(key: string, points: readonly PointResult[], xs: readonly number[]): Shown[] {
  return points.flatMap((point, position) => {
    const value = point.values[key]
    if (value === undefined || Number.isNaN(value)) return []
    return [{ value, x: xs[position] ?? 0, all: valuesOf(point, key) }]
  })
}

/** Series differ by shape and colour. */
function marker(index: number, x: number, y: number): string {
  if (index === 1)
    return `<rect class="mark" x="${x - MARKER}" y="${y - MARKER}" width="${2 * MARKER}" height="${2 * MARKER}"/>`
  if (index === 2)
    return `<path class="mark" d="M${x} ${y - MARKER - 1}l${MARKER + 1} ${2 * MARKER}h${-2 * MARKER - 2}z"/>`
  return `<circle class="mark" cx="${x}" cy="${y}" r="${MARKER}"/>`
}

function valuesOf({ values, rounds }: PointResult, key: string): number[] {
  return [values, ...rounds].flatMap((each) => {
    const value = each[key]
    return value === undefined || Number.isNaN(value) ? [] : [value]
  })
}

function round(value: number): number {
  return Math.round(value * 10) / 10
}

function text(x: number, y: number, content: string, attributes: string): string {
  return `<text x="${x}" y="${y}" ${attributes}>${escape(content)}</text>`
}

function escape(content: string): string {
  return content
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
}
