import type { Answer } from '../../api/call.ts'

type Statistics = Pick<Answer<'statistics.site'>, 'series' | 'stepMs'>
type Step = Statistics['series'][number]

/** A step that has hardly begun says nothing yet. */
const minShareOfStep = 0.2

/** Per second. The last step isn't over: what was counted in it is divided by the time that it has lasted. */
export function perSecond(
  { series, stepMs }: Statistics,
  nowMs: number,
  of: (step: Step) => number | null,
): readonly (number | null)[] {
  return series.map((step) => {
    const lastedMs = Math.min(stepMs, nowMs - Date.parse(step.at))
    const count = of(step)
    if (count === null || lastedMs < minShareOfStep * stepMs) return null
    return count / (lastedMs / 1000)
  })
}

export function lastOf(values: readonly (number | null)[]): number | null {
  return values.findLast((value) => value !== null) ?? null
}

/** A minute is counted within a minute after its end: what is known reaches to between one and two minutes ago. */
const countedAfterMs = 90_000
const minCountedMs = 60_000

/** Events are counted by the minute, some time after it: of the last step that isn't over, only a part is known. */
export function acceptedPerSecond({ series, stepMs }: Statistics, nowMs: number): readonly (number | null)[] {
  return series.map(({ at, accepted }) => {
    const lastedMs = nowMs - Date.parse(at)
    const countedMs = lastedMs >= stepMs ? stepMs : lastedMs - countedAfterMs
    return accepted === null || countedMs < minCountedMs ? null : accepted / (countedMs / 1000)
  })
}
