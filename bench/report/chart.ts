import type { ArmResult, RowResult } from '../harness/evaluate.ts'
import { formatGoal, formatNumber } from './format.ts'

const WIDTH = 860
const MARGIN = 28
const LABEL_WIDTH = 130
const VALUE_WIDTH = 180
const BAR_HEIGHT = 20
const BAR_STEP = 28
const PANEL_HEADER = 46
const PANEL_GAP = 34
const TITLE_HEIGHT = 66

const COLOURS = {
  text: '#1c2430',
  quiet: '#5b6675',
  holdfast: '#0f766e',
  peer: '#9aa5b4',
  track: '#eef1f5',
  goal: '#b45309',
}

/** A panel for each row: a bar for each arm (median, whiskers from min to max) and, unless left out, the goal as a line. */
export function renderChart(
  results: readonly RowResult[],
  title: string,
  subtitle: string,
  { hasGoals = true } = {},
): string {
  const panels: string[] = []
  let top = TITLE_HEIGHT
  for (const result of results) {
    panels.push(renderPanel(result, top, hasGoals))
    top += PANEL_HEADER + result.arms.length * BAR_STEP + PANEL_GAP
  }
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${WIDTH}" height="${top}" viewBox="0 0 ${WIDTH} ${top}"`,
    ` font-family="system-ui, -apple-system, 'Segoe UI', 'DejaVu Sans', sans-serif" font-size="13" fill="${COLOURS.text}">`,
    `<rect width="${WIDTH}" height="${top}" fill="#ffffff"/>`,
    text(MARGIN, 32, title, 'font-size="18" font-weight="600"'),
    text(MARGIN, 52, subtitle, `font-size="12" fill="${COLOURS.quiet}"`),
    ...panels,
    '</svg>\n',
  ].join('\n')
}

function renderPanel(result: RowResult, top: number, hasGoals: boolean): string {
  const goal = hasGoals ? goalValue(result) : undefined
  const largest = axisEnd(result, goal)
  const barLeft = MARGIN + LABEL_WIDTH
  const barWidth = WIDTH - MARGIN - VALUE_WIDTH - barLeft
  const scale = (value: number) => (largest > 0 ? Math.min(1, value / largest) * barWidth : 0)
  const bars = result.arms.map((arm, index) =>
    renderBar(arm, barLeft, top + PANEL_HEADER + index * BAR_STEP, barWidth, scale, largest),
  )
  const remarks = [
    'atLeast' in result.goal ? 'more is better' : 'less is better',
    [
      ...(result.ratio ? [`ratio ${formatNumber(result.ratio.median)}`] : []),
      ...(hasGoals ? [`goal ${formatGoal(result.goal)}: ${result.verdict}`] : []),
    ].join(', '),
  ]
  return [
    text(MARGIN, top + 18, `${result.title}, ${result.unit}`, 'font-size="15" font-weight="600"'),
    text(MARGIN, top + 36, remarks.filter(Boolean).join(' · '), `font-size="12" fill="${COLOURS.quiet}"`),
    ...bars,
    ...(goal === undefined ? [] : [renderGoal(barLeft + scale(goal), top, result.arms.length)]),
  ].join('\n')
}

function renderBar(
  arm: ArmResult,
  left: number,
  top: number,
  width: number,
  scale: (value: number) => number,
  largest: number,
): string {
  const middle = top + BAR_HEIGHT / 2
  const isSubject = arm.role === 'subject'
  const weight = isSubject ? 'font-weight="600"' : ''
  const label = text(left - 10, middle + 4.5, arm.arm, `text-anchor="end" ${weight}`)
  const track = `<rect x="${left}" y="${top}" width="${width}" height="${BAR_HEIGHT}" rx="3" fill="${COLOURS.track}"/>`
  if (arm.value === undefined) {
    return [label, track, text(left + 10, middle + 4.5, 'not measured', `fill="${COLOURS.quiet}"`)].join('\n')
  }
  const { median, min, max } = arm.value
  const length = Math.max(2, scale(median))
  const fill = isSubject ? COLOURS.holdfast : COLOURS.peer
  const [low, high] = [left + scale(min), left + scale(max)]
  const whisker = `<path d="M${low} ${middle}H${high}M${low} ${middle - 4}v8M${high} ${middle - 4}v8" stroke="${COLOURS.text}" fill="none"/>`
  return [
    label,
    track,
    `<rect x="${left}" y="${top}" width="${length}" height="${BAR_HEIGHT}" rx="3" fill="${fill}"/>`,
    ...(median > largest ? [renderBreak(left + width - 24, top)] : min < max ? [whisker] : []),
    text(left + width + 12, middle + 4.5, valueLabel(arm), weight),
  ].join('\n')
}

function valueLabel(arm: ArmResult): string {
  const median = formatNumber(arm.value?.median ?? 0)
  return arm.details.p50Ms === undefined ? median : `${median} (p50 ${formatNumber(arm.details.p50Ms)})`
}

function renderGoal(x: number, top: number, arms: number): string {
  const bottom = top + PANEL_HEADER + arms * BAR_STEP - (BAR_STEP - BAR_HEIGHT)
  return [
    `<path d="M${x} ${top + PANEL_HEADER - 4}V${bottom + 4}" stroke="${COLOURS.goal}" stroke-width="2" stroke-dasharray="4 3"/>`,
    text(x, bottom + 16, 'goal', `font-size="11" text-anchor="middle" fill="${COLOURS.goal}"`),
  ].join('\n')
}

/** A slanted gap: this bar is longer than the axis. */
function renderBreak(x: number, top: number): string {
  return `<path d="M${x} ${top + BAR_HEIGHT}l6 ${-BAR_HEIGHT}h5l-6 ${BAR_HEIGHT}z" fill="#ffffff"/>`
}

/** One far slower contender must not squeeze the comparison of the row into a few pixels. */
function axisEnd(result: RowResult, goal: number | undefined): number {
  const compared = result.arms.filter((arm) => arm.role !== 'also shown')
  const end = Math.max(...compared.map((arm) => arm.value?.max ?? 0), goal ?? 0)
  const others = result.arms.map((arm) => arm.value?.max ?? 0).filter((max) => end === 0 || max <= 3 * end)
  return Math.max(end, ...others)
}

/** The goal's position on the axis of the row. */
function goalValue(result: RowResult): number | undefined {
  const limit = 'atLeast' in result.goal ? result.goal.atLeast : result.goal.atMost
  if (result.goal.of === 'value') return limit
  const baseline = result.arms.find((arm) => arm.arm === result.bestBaseline)?.value?.median
  return baseline === undefined ? undefined : baseline * limit
}

function text(x: number, y: number, content: string, attributes: string): string {
  const escaped = content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
  return `<text x="${x}" y="${y}" ${attributes}>${escaped}</text>`
}
