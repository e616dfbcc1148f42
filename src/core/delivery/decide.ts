import type { EndpointSettings } from '../endpoints/endpoint-config.ts'
import type { AttemptOutcome } from './attempt.ts'
import { giveUpThresholdMs, type Pause } from './give-up.ts'
import { holdMs } from './retry-after.ts'
import { mayRetry, retryDelayMs } from './retry-policy.ts'

/** What becomes of a delivery whose attempt didn't succeed. */
export type Decision =
  | {
      readonly action: 'retry'
      readonly delayMs: number
      readonly holdEndpointMs: number
      /** Whether it used up one of the policy's retries: a failed probe, a throttle or a refusal that another took upon itself doesn't. */
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
  /** Attempts made, this one included. */
  readonly attempt: number
  /** Of those before this one, how many don't count against the policy. */
  readonly uncounted: number
  readonly criticality: number
  readonly owedSinceMs: number
}

/** Criticality 0: counted and dropped after its retries, because somebody chose so. */
export const bestEffort = 0

export interface DecisionContext {
  readonly settings: EndpointSettings
  readonly pauses: readonly Pause[]
  readonly isProbe: boolean
  /** Another delivery of the same request takes its refusal upon itself. */
  readonly isSpared: boolean
  readonly nowMs: number
  readonly random: () => number
}

export function decide(delivery: TriedDelivery, outcome: AttemptOutcome, context: DecisionContext): Decision {
  const { settings, nowMs } = context
  switch (outcome.class) {
    case 'permanent':
    case 'gone':
      // One refused request is one refused message, as it would be without batches: the rest waits for another request.
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
  // A throttled or spared delivery uses up no retry, but its delay grows all the same.
  const retry = outcome.class === 'retryable' ? retriesUsed + 1 : delivery.attempt
  const policyDelayMs = retryDelayMs(settings.retry, Math.max(1, retry), context.random)
  // A failed probe must be at hand for the next one when nothing else is.
  const usualDelayMs = context.isProbe ? Math.min(policyDelayMs, settings.circuit.cooldownMs) : policyDelayMs
  const isHeld = outcome.class === 'throttled' && outcome.retryAfterMs !== undefined
  const holdEndpointMs = isHeld ? holdMs(outcome.retryAfterMs ?? 0, context.random) : 0
  // A receiver that asks for no wait at all still gets the policy's. While the endpoint is held the delivery waits with it anyway, and
  // a person who ends the hold ends the wait.
  const delayMs = holdEndpointMs > 0 ? Math.min(holdEndpointMs, usualDelayMs) : usualDelayMs
  const givesUpAtMs = giveUpThresholdMs({
    nowMs,
    giveUpAfterMs: settings.retry.giveUpAfterMs,
    pauses: context.pauses,
  })
  if (delivery.owedSinceMs <= givesUpAtMs) return ending(delivery, 'gave_up')
  return { action: 'retry', delayMs, holdEndpointMs, isCounted }
}

/** A message that never left has another reason than one that was refused. */
function reasonOf({ class: word, origin }: AttemptOutcome): DeathReason {
  if (word === 'gone') return 'gone'
  return origin === 'schema' || origin === 'transform' ? origin : 'permanent'
}

function ending(delivery: TriedDelivery, reason: DeathReason): Decision {
  return { action: delivery.criticality === bestEffort ? 'drop' : 'dead', reason }
}
