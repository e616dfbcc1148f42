/** The goal of a row: for the ratio to the best baseline, or for Holdfast's own value. */
export type Goal = { of: 'ratio' | 'value' } & (
  | { atLeast: number; moonshot?: number }
  | { atMost: number; moonshot?: number }
)

export type SettingValue = number | string | boolean

/** One measurement of one arm, in its own process. */
export interface Sample {
  /** The number that the row compares, in the row's unit. */
  value: number
  /** Further values, with units in their names. */
  details: Record<string, number>
  settings: Record<string, SettingValue>
}

/** The input of a sample. Plain data: it is sent to the sample's process. */
export interface SampleContext {
  arm: string
  /** An empty database for this sample only. */
  databaseUrl: string
  redisUrl: string
  /** Every Redis key of this sample starts with it. */
  redisPrefix: string
  messages: number
  httpMessages: number
  latencyProbes: number
  /** Number of waiting messages in rows about depth. */
  backlogMessages: number
  endpointCount: number
  idleMs: number
  /** From `--set <arm>.<name>=<value>`, to try other settings. */
  overrides: Record<string, number>
}

export interface Row {
  name: string
  title: string
  unit: string
  goal: Goal
  /** Goals for Holdfast's details, by name. */
  detailsAtLeast?: Readonly<Record<string, number>>
  /** Arms to compare with: the ratio is to the best of them in each round. */
  baselines: readonly string[]
  /** Arms that are measured and shown for information only. */
  alsoShown?: readonly string[]
  /** Limits the rounds of rows that take long or hardly vary. */
  maxRounds?: number
  /** For rows with samples longer than three minutes. */
  sampleTimeoutMs?: number
  measure(context: SampleContext): Promise<Sample>
}

export const SUBJECT = 'holdfast'

/** Thrown by an arm that can't run here; the report then shows the reason instead of a number. */
export class Unavailable extends Error {
  override name = 'Unavailable'
}

export function higherIsBetter(goal: Goal): boolean {
  return 'atLeast' in goal
}

export function armsOf(row: Row): string[] {
  return [SUBJECT, ...row.baselines, ...(row.alsoShown ?? [])]
}
