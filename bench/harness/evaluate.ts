import { type Goal, higherIsBetter, type Row, type Sample, type SettingValue, SUBJECT } from './row.ts'
import type { ArmSamples, Measurements } from './run-rounds.ts'
import { median, type Spread, spreadOf } from './statistics.ts'

export type Verdict = 'moonshot' | 'reached' | 'missed' | 'not measured'

export interface ArmResult {
  arm: string
  role: 'subject' | 'baseline' | 'also shown'
  value?: Spread
  /** Medians of the rounds. */
  details: Record<string, number>
  settings: Record<string, SettingValue>
  rounds: (number | null)[]
  unavailable?: string
  failures: string[]
}

export interface RowResult {
  name: string
  title: string
  unit: string
  goal: Goal
  arms: ArmResult[]
  /** The baseline with the best median. */
  bestBaseline?: string
  /** Ratios within each round, to the best baseline of that round. */
  ratio?: Spread
  verdict: Verdict
}

export function evaluate(rows: readonly Row[], measurements: Measurements): RowResult[] {
  return rows.map((row) => evaluateRow(row, measurements.get(row.name) ?? new Map()))
}

function evaluateRow(row: Row, measured: Map<string, ArmSamples>): RowResult {
  const arms = [...measured].map(([arm, samples]) => summarise(row, arm, samples))
  const order = [SUBJECT, ...row.baselines, ...(row.alsoShown ?? [])]
  arms.sort((a, b) => order.indexOf(a.arm) - order.indexOf(b.arm))
  const ratios = ratiosByRound(row, measured)
  const ratio = ratios.length > 0 ? spreadOf(ratios) : undefined
  const subject = arms.find((arm) => arm.role === 'subject')
  const judged = row.goal.of === 'ratio' ? ratio?.median : subject?.value?.median
  const best = bestOf(
    row.goal,
    arms.filter((arm) => arm.role === 'baseline'),
  )
  return {
    name: row.name,
    title: row.title,
    unit: row.unit,
    goal: row.goal,
    arms,
    ...(best && { bestBaseline: best.arm }),
    ...(ratio && { ratio }),
    verdict: judge(row.goal, judged, hasDetails(row, subject)),
  }
}

function summarise(row: Row, arm: string, { samples, unavailable, failures }: ArmSamples): ArmResult {
  const taken = samples.filter((sample) => sample !== undefined)
  return {
    arm,
    role: arm === SUBJECT ? 'subject' : row.baselines.includes(arm) ? 'baseline' : 'also shown',
    ...(taken.length > 0 && { value: spreadOf(taken.map((sample) => sample.value)) }),
    details: medianDetails(taken),
    settings: taken[0]?.settings ?? {},
    rounds: Array.from(samples, (sample) => sample?.value ?? null),
    ...(unavailable !== undefined && { unavailable }),
    failures,
  }
}

function medianDetails(samples: readonly Sample[]): Record<string, number> {
  const names = Object.keys(samples[0]?.details ?? {})
  return Object.fromEntries(
    names.map((name) => [name, median(samples.map((sample) => sample.details[name] ?? Number.NaN))]),
  )
}

function ratiosByRound(row: Row, measured: Map<string, ArmSamples>): number[] {
  const subject = measured.get(SUBJECT)?.samples ?? []
  return subject.flatMap((sample, round) => {
    const baselines = row.baselines
      .map((arm) => measured.get(arm)?.samples[round]?.value)
      .filter((value) => value !== undefined)
    if (sample === undefined || baselines.length === 0) return []
    const best = higherIsBetter(row.goal) ? Math.max(...baselines) : Math.min(...baselines)
    return [sample.value / best]
  })
}

export function bestOf(goal: Goal, arms: readonly ArmResult[]): ArmResult | undefined {
  const direction = higherIsBetter(goal) ? -1 : 1
  return arms
    .filter((arm) => arm.value !== undefined)
    .toSorted((a, b) => direction * ((a.value?.median ?? 0) - (b.value?.median ?? 0)))[0]
}

function hasDetails({ detailsAtLeast = {} }: Row, subject: ArmResult | undefined): boolean {
  return Object.entries(detailsAtLeast).every(([name, least]) => (subject?.details[name] ?? 0) >= least)
}

function judge(goal: Goal, value: number | undefined, areDetailsReached: boolean): Verdict {
  if (value === undefined) return 'not measured'
  if (!areDetailsReached) return 'missed'
  const reaches = (limit: number) => ('atLeast' in goal ? value >= limit : value <= limit)
  if (goal.moonshot !== undefined && reaches(goal.moonshot)) return 'moonshot'
  return reaches('atLeast' in goal ? goal.atLeast : goal.atMost) ? 'reached' : 'missed'
}
