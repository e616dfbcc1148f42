/** What a row must reach: of the ratio to the best baseline, or of Holdfast's own value. */
export type Goal = { of: 'ratio' | 'value' } & (
  | { atLeast: number; moonshot?: number }
  | { atMost: number; moonshot?: number }
)

export type SettingValue = number | string | boolean

/** One measurement of one arm, in a process of its own. */
export interface Sample {
  /** The number that the row compares, in the row's unit. */
  value: number
  /** What else was seen, with units in the names. */
  details: Record<string, number>
  settings: Record<string, SettingValue>
}

/** Everything that a sample may use. Plain data: it travels to the sample's process. */
export interface SampleContext {
  arm: string
  /** An empty database of this sample's own. */
  databaseUrl: string
  redisUrl: string
  /** Every Redis key of this sample starts with it. */
  redisPrefix: string
  messages: number
  httpMessages: number
  latencyProbes: number
  /** How many wait in the rows about depth. */
  backlogMessages: number
  endpointCount: number
  idleMs: number
  /** From `--set <arm>.<name>=<value>`: the way to try other settings. */
  overrides: Record<string, number>
}

export interface Row {
  name: string
  title: string
  unit: string
  goal: Goal
  /** What Holdfast's details must reach as well, by their names. */
  detailsAtLeast?: Readonly<Record<string, number>>
  /** Arms that the ratio is taken against: the best of them in each round. */
  baselines: readonly string[]
  /** Arms that are measured and shown for information only. */
  alsoShown?: readonly string[]
  /** Rows that take long or hardly vary need fewer rounds than were asked for. */
  maxRounds?: number
  /** For rows that take longer than three minutes a sample. */
  sampleTimeoutMs?: number
  measure(context: SampleContext): Promise<Sample>
}

export const SUBJECT = 'holdfast'

/** Thrown by an arm that can't run here: the report says so instead of a number. */
export class Unavailable extends Error {
  override name = 'Unavailable'
}

export function higherIsBetter(goal: Goal): boolean {
  return 'atLeast' in goal
}

export function armsOf(row: Row): string[] {
  return [SUBJECT, ...row.baselines, ...(row.alsoShown ?? [])]
}
