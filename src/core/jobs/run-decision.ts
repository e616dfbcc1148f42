import { retryDelayMs } from '../delivery/retry-policy.ts'
import type { JobSettings } from './job-settings.ts'

/** How one execution of a run ended, as reported by its worker. */
export type RunEnding =
  | { readonly kind: 'succeeded' }
  | { readonly kind: 'failed'; readonly isPermanent: boolean; readonly retryAfterMs: number | null }
  | { readonly kind: 'timed_out' }
  /** A person cancelled the run, and the handler stopped. */
  | { readonly kind: 'cancelled' }
  /** The run expired before it was started. */
  | { readonly kind: 'expired' }
  /** The worker stops: the run is returned unchanged. */
  | { readonly kind: 'released' }

export type RunAction = 'succeed' | 'retry' | 'dead' | 'cancel' | 'expire' | 'release'

export interface RunDecision {
  readonly action: RunAction
  readonly delayMs: number | null
  readonly reason: string | null
  /** Whether the handler was started, so that an attempt is recorded and counted. */
  readonly isCounted: boolean
}

/** Every state of a run, and the state that each action leads to. */
export const runTransitions = {
  waiting: { claim: 'running', cancel: 'cancelled', expire: 'expired', dead: 'failed' },
  running: {
    succeed: 'succeeded',
    retry: 'waiting',
    release: 'waiting',
    crash: 'waiting',
    dead: 'failed',
    cancel: 'cancelled',
    expire: 'expired',
  },
  succeeded: {},
  /** A late success is recorded, and resolves the dead letter. */
  failed: { succeed: 'succeeded', redrive: 'waiting' },
  cancelled: {},
  expired: {},
} as const

export type RunState = keyof typeof runTransitions

/**
 * The decision about a run. `attempt` is the number of the execution that has just ended, starting at 1.
 *
 * @example decideRun({ kind: 'timed_out' }, 4, settings, Math.random) // { action: 'dead', reason: 'timed_out', … }
 */
export function decideRun(
  ending: RunEnding,
  attempt: number,
  settings: Pick<JobSettings, 'retry'>,
  random: () => number,
): RunDecision {
  if (ending.kind === 'timed_out') return retryOrDie(attempt, settings, random, null, 'timed_out')
  if (ending.kind !== 'failed') return plainDecisions[ending.kind]
  if (ending.isPermanent) return { action: 'dead', delayMs: null, reason: 'permanent', isCounted: true }
  return retryOrDie(attempt, settings, random, ending.retryAfterMs, 'retries_exhausted')
}

const plainDecisions: Readonly<Record<Exclude<RunEnding['kind'], 'failed' | 'timed_out'>, RunDecision>> = {
  succeeded: { action: 'succeed', delayMs: null, reason: null, isCounted: true },
  cancelled: { action: 'cancel', delayMs: null, reason: 'cancelled', isCounted: true },
  expired: { action: 'expire', delayMs: null, reason: 'expired', isCounted: false },
  released: { action: 'release', delayMs: null, reason: null, isCounted: false },
}

function retryOrDie(
  attempt: number,
  { retry }: Pick<JobSettings, 'retry'>,
  random: () => number,
  chosenDelayMs: number | null,
  reason: string,
): RunDecision {
  if (attempt > retry.maxRetries) return { action: 'dead', delayMs: null, reason, isCounted: true }
  // Runs have no give-up timer; the policy's delays don't use it.
  const delayMs =
    chosenDelayMs ?? retryDelayMs({ ...retry, giveUpAfterMs: Number.MAX_SAFE_INTEGER }, attempt, random)
  return { action: 'retry', delayMs, reason: null, isCounted: true }
}
