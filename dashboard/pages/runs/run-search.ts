import { chosen, type RawSearch, textsOf } from '../../parts/search-params.ts'

export const runStates = [
  'scheduled',
  'waiting',
  'running',
  'succeeded',
  'failed',
  'timed_out',
  'cancelled',
  'expired',
] as const

/** What the list of runs is narrowed to, as its address has it and as the API takes it. */
export interface RunSearch {
  readonly state?: (typeof runStates)[number] | undefined
  readonly job?: string | undefined
  readonly queue?: string | undefined
  readonly worker?: string | undefined
  readonly tag?: string | undefined
  readonly correlationId?: string | undefined
  /** When it was enqueued: from this moment on, and before that one. */
  readonly from?: string | undefined
  readonly to?: string | undefined
}

/** Leaves out what isn't set, and what is no time. */
export function parseRunSearch(raw: RawSearch): RunSearch {
  return {
    ...textsOf(raw, 'job', 'queue', 'worker', 'tag', 'correlationId'),
    ...chosen({
      state: runStates.find((state) => state === raw['state']),
      from: moment(raw['from']),
      to: moment(raw['to']),
    }),
  }
}

function moment(value: unknown): string | undefined {
  const at = new Date(typeof value === 'string' ? value : Number.NaN)
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString()
}
