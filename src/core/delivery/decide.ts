import type { EndpointSettings } from '../endpoints/endpoint-config.ts'
import type { AttemptOutcome } from './attempt.ts'
import { giveUpThresholdMs, type Pause } from './give-up.ts'
import { holdMs } from './retry-after.ts'
import { mayRetry, retryDelayMs } from './retry-policy.ts'

/** The decision about a delivery whose attempt failed. */
export type Decision =
  | {
      readonly action: 'retry'
      readonly delayMs: number
      readonly holdEndpointMs: number
      /**
       * Whether the attempt used one of the policy's retries. It does not if it was a failed probe, a throttle, or a refusal attributed to another
       * delivery of the batch.
       */
      readonly isCounted: boolean
    }
  | { readonly action: 'dead'; readonly reason: DeathReason }
  | { readonly action: 'drop'; readonly reason: DeathReason }

export type DeathReason =
  | 'permanent'
  | 'schema'
  | 'transform'
  | 'gone'
  | 'retries_exhausted'
  | 'gave_up'
  | 'crashed_its_node'

export interface TriedDelivery {
  /** Number of attempts, including this one. */
  readonly attempt: number
  /** How many of the earlier attempts don't count against the policy. */
  readonly uncounted: number
  readonly criticality: number
  readonly owedSinceMs: number
}

/** Criticality 0 (best effort): counted and dropped after its retries. */
export const bestEffort = 0

export interface DecisionContext {
  readonly settings: EndpointSettings
  readonly pauses: readonly Pause[]
  readonly isProbe: boolean
  /** The refusal is attributed to another delivery of the same request. */
  readonly isSpared: boolean
  readonly nowMs: number
  readonly random: () => number
}

export function decide(delivery: TriedDelivery, outcome: AttemptOutcome, context: DecisionContext): Decision {
  const { settings, nowMs } = context
  switch (outcome.class) {
    case 'permanent':
    case 'gone':
      // One refused request counts as one refused message, as without batches: the other messages wait for another request.
      if (!context.isSpared) return ending(delivery, reasonOf(outcome))
      break
    case 'success':
      throw new Error('a success needs no decision')
    case 'retryable':
    case 'throttled':
      break
  }
  const retriesUsed = delivery.attempt - delivery.uncounted - 1
  const isCounted = !context.isProbe && outcome.class === 'retryable'
  if (isCounted && !mayRetry(settings.retry, retriesUsed)) return ending(delivery, 'retries_exhausted')
  // A throttled or spared delivery uses no retry, but its delay still grows.
  const retry = outcome.class === 'retryable' ? retriesUsed + 1 : delivery.attempt
  const policyDelayMs = retryDelayMs(settings.retry, Math.max(1, retry), context.random)
  // A failed probe must be available for the next probe if there is no other delivery.
  const usualDelayMs = context.isProbe ? Math.min(policyDelayMs, settings.circuit.cooldownMs) : policyDelayMs
  const isHeld = outcome.class === 'throttled' && outcome.retryAfterMs !== undefined
  const holdEndpointMs = isHeld ? holdMs(outcome.retryAfterMs ?? 0, context.random) : 0
  // A receiver that asks for no delay still gets the policy's. While the endpoint is held, the delivery waits with it anyway, and
  // ending the hold manually ends the wait.
  const delayMs = holdEndpointMs > 0 ? Math.min(holdEndpointMs, usualDelayMs) : usualDelayMs
  const givesUpAtMs = giveUpThresholdMs({
    nowMs,
    giveUpAfterMs: settings.retry.giveUpAfterMs,
    pauses: context.pauses,
  })
  if (delivery.owedSinceMs <= givesUpAtMs) return ending(delivery, 'gave_up')
  return { action: 'retry', delayMs, holdEndpointMs, isCounted }
}

/** A message that was never sent gets another reason than one that was refused. */
function reasonOf({ class: word, origin }: AttemptOutcome): DeathReason {
  if (word === 'gone') return 'gone'
  return origin === 'schema' || origin === 'transform' ? origin : 'permanent'
}

function ending(delivery: TriedDelivery, reason: DeathReason): Decision {
  return { action: delivery.criticality === bestEffort ? 'drop' : 'dead', reason }
}
