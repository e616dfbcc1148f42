import type { AttemptClass } from '../core/delivery/attempt.ts'
import { formatId } from '../core/delivery/ids.ts'
import type { RememberedAttempt } from '../storage/dead-letters.ts'
import type { AttemptRecord } from '../storage/deliveries.ts'
import { outcomeCodes } from '../storage/settle.ts'

export type Outcome = AttemptClass | 'interrupted' | 'expired' | 'cancelled' | 'dropped' | 'skipped'

const outcomeByCode = new Map<number, Outcome>(
  Object.entries(outcomeCodes).map(([word, code]) => [code, word as Outcome]),
)

export function outcomeOf(code: number): Outcome {
  const outcome = outcomeByCode.get(code)
  if (outcome === undefined) throw new Error(`${code} is not an outcome`)
  return outcome
}

const criticalities = ['best_effort', 'standard', 'critical'] as const
export type Criticality = (typeof criticalities)[number]

export function criticalityOf(code: number): Criticality {
  return criticalities[code] ?? 'standard'
}

/**
 * One attempt at a delivery, or the decision that ended the delivery without one (`expired`, `cancelled`, `dropped`, `skipped`). `interrupted`: the
 * node or worker died during the attempt, so its outcome is unknown; it doesn't count against the retry policy.
 */
export interface Attempt {
  readonly deliveryId: string | null
  readonly attempt: number
  readonly startedAt: Date
  readonly durationMs: number | null
  readonly outcome: Outcome
  readonly statusCode: number | null
  readonly isProbe: boolean
  readonly errorCode: string | null
  readonly error: string | null
  /** The rendered request (truncated, secrets redacted), the response and the timings, as far as they were stored. */
  readonly detail: Readonly<Record<string, unknown>> | null
}

/** `prefix`: `run` for attempts of a job's run. */
export function toAttempt(record: AttemptRecord, prefix: 'dlv' | 'run' = 'dlv'): Attempt {
  const { deliveryId, outcome, ...rest } = record
  return { ...rest, deliveryId: formatId(prefix, deliveryId), outcome: outcomeOf(outcome) }
}

/** Restores an attempt from a dead letter, because the attempt's own row may have been deleted. */
export function fromMemory(remembered: RememberedAttempt, prefix: 'dlv' | 'run' = 'dlv'): Attempt {
  const { deliveryId, at, status, outcome, ...rest } = remembered
  return {
    ...rest,
    deliveryId: deliveryId === null || deliveryId === undefined ? null : formatId(prefix, deliveryId),
    startedAt: new Date(at),
    outcome: outcomeOf(outcome),
    statusCode: status,
    detail: null,
  }
}
