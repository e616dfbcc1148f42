import type { Page } from 'playwright-core'

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  readonly ts: number
  readonly dur?: number
  /** Processor time of the thread: while something else has the processor, it stands still. */
  readonly tdur?: number
}

/** What counts: script with its collection of garbage, style and layout. Paint has threads of its own. */
const counted = new Set([
  'FunctionCall',
  'EvaluateScript',
  'FireAnimationFrame',
  'EventDispatch',
  'TimerFire',
  'RunMicrotasks',
  'MinorGC',
  'MajorGC',
  'UpdateLayoutTree',
  'Layout',
])
const task = 'ThreadControllerImpl::RunTask'
const mark = 'frame'

export interface FrameWork {
  /** Script, style and layout of each frame, in ms of the main thread's processor time. */
  readonly frames: readonly number[]
  /** The longest task of the main thread, of whatever it was made. */
  readonly longestTaskMs: number
}

/** Scrolls from the top by so many pixels in each frame and says what each cost the page. */
export async function scrollFrames(page: Page, steps: readonly number[]): Promise<FrameWork> {
  const devtools = await page.context().newCDPSession(page)
  const events: TraceEvent[] = []
  devtools.on('Tracing.dataCollected', ({ value }) => events.push(...(value as unknown as TraceEvent[])))
  await devtools.send('Tracing.start', {
    transferMode: 'ReportEvents',
    traceConfig: { includedCategories: ['devtools.timeline', 'blink.user_timing', 'toplevel', 'v8.execute'] },
  })
  const scrolled = await page.evaluate(
    async ([by, name]) => {
      const nextFrame = () => new Promise((resolve) => requestAnimationFrame(() => resolve(null)))
      window.scrollTo(0, 0)
      await nextFrame()
      await nextFrame()
      for (const pixels of by) {
        performance.mark(name)
        window.scrollBy(0, pixels)
        await nextFrame()
      }
      performance.mark(name)
      return window.scrollY
    },
    [steps, mark] as const,
  )
  const isComplete = new Promise((resolve) => devtools.once('Tracing.tracingComplete', resolve))
  await devtools.send('Tracing.end')
  await isComplete
  await devtools.detach()
  const asked = steps.reduce((sum, by) => sum + by, 0)
  if (Math.abs(scrolled - asked) > 1000) throw new Error(`scrolled by ${scrolled} px instead of ${asked}`)
  return workOf(events)
}

function workOf(events: readonly TraceEvent[]): FrameWork {
  const marks = events.filter(({ name }) => name === mark).sort((one, other) => one.ts - other.ts)
  const [first] = marks
  const last = marks.at(-1)
  if (first === undefined || last === undefined) throw new Error('the trace has no frame')
  const main = events.filter(
    ({ ph, pid, tid, ts }) =>
      ph === 'X' && pid === first.pid && tid === first.tid && ts >= first.ts && ts < last.ts,
  )
  const frames = marks.slice(1).map(() => 0)
  // Only what is in nothing else that counts: a layout that a script forces is part of that script.
  let endOfOuter = 0
  let frame = 0
  for (const { name, ts, dur = 0, tdur = 0 } of main.toSorted((one, other) => one.ts - other.ts)) {
    if (!counted.has(name) || ts < endOfOuter) continue
    endOfOuter = ts + dur
    while (ts >= (marks[frame + 1]?.ts ?? Number.POSITIVE_INFINITY)) frame += 1
    frames[frame] = (frames[frame] ?? 0) + tdur / 1000
  }
  const tasks = main.filter(({ name }) => name === task).map(({ tdur = 0 }) => tdur / 1000)
  return { frames, longestTaskMs: Math.max(0, ...tasks) }
}
