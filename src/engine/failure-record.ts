import type { AttemptOutcome } from '../core/delivery/attempt.ts'
import type { Decision } from '../core/delivery/decide.ts'
import { type FailureRecord, outcomeCodes } from '../storage/settle.ts'
import type { Delivery } from './delivery.ts'

export const maxErrorLength = 2000

/** What is stored of the request and the response; null if the transport captured neither. */
export function capturedDetail({ request, response, timings, batch }: AttemptOutcome): object | null {
  return request === undefined && response === undefined ? null : { request, response, timings, batch }
}

/** A failed attempt keeps its timings in any case. */
function failureDetail(outcome: AttemptOutcome): object | null {
  const { timings } = outcome
  return capturedDetail(outcome) ?? (timings === undefined ? null : { timings })
}

/** The record of a failed attempt, with the decision about its delivery. */
export function failureRecord(
  delivery: Delivery,
  outcome: AttemptOutcome,
  decision: Decision,
): FailureRecord {
  return {
    id: delivery.id,
    message: delivery.rowMessageId,
    lane: delivery.lane.id,
    epoch: delivery.lane.epoch,
    route: delivery.routeId,
    attempt: delivery.attempt,
    expected: delivery.attemptsMade,
    outcome: outcomeCodes[outcome.class],
    status: outcome.statusCode ?? null,
    startedAtMs: delivery.startedAtMs,
    durationMs: Math.round(outcome.durationMs),
    errorCode: outcome.error?.code ?? null,
    error: outcome.error?.message.slice(0, maxErrorLength) ?? null,
    detail: failureDetail(outcome),
    action: decision.action,
    delayMs: decision.action === 'retry' ? decision.delayMs : null,
    reason: decision.action === 'retry' ? null : decision.reason,
    isProbe: delivery.probeToken !== null,
    isCounted: decision.action !== 'retry' || decision.isCounted,
    isTried: true,
    blocksKey: delivery.lane.blocksKeysOnDeath && delivery.orderingKey !== null,
    orderingKey: delivery.orderingKey,
  }
}

const endings: Readonly<Record<string, string>> = {
  expired: 'It expired before it could be delivered.',
  gave_up: 'It was not delivered within giveUpAfterMs.',
  crashed_its_node: 'The node that dispatched it crashed three times.',
  message_missing: 'Its message is no longer stored.',
}

export interface EndingDelivery {
  readonly id: number
  readonly rowMessageId: number
  readonly lane: { readonly id: number; readonly epoch: number; readonly blocksKeysOnDeath: boolean }
  readonly routeId: number | null
  readonly attemptsMade: number
  readonly orderingKey: string | null
}

/** The record of a delivery that ends without another attempt. */
export function endingRecord(
  delivery: EndingDelivery,
  action: 'dead' | 'drop' | 'expire',
  reason: string,
  startedAtMs: number,
): FailureRecord {
  const outcomes = { dead: outcomeCodes.permanent, drop: outcomeCodes.dropped, expire: outcomeCodes.expired }
  return {
    id: delivery.id,
    message: delivery.rowMessageId,
    lane: delivery.lane.id,
    epoch: delivery.lane.epoch,
    route: delivery.routeId,
    // An ending without an attempt is numbered after the last attempt, so that it can't collide with one.
    attempt: action === 'dead' ? delivery.attemptsMade : delivery.attemptsMade + 1,
    expected: delivery.attemptsMade,
    outcome: outcomes[action],
    status: null,
    startedAtMs,
    durationMs: null,
    errorCode: reason,
    error: endings[reason] ?? null,
    detail: null,
    action,
    delayMs: null,
    reason,
    isProbe: false,
    isCounted: false,
    isTried: false,
    blocksKey: delivery.lane.blocksKeysOnDeath && delivery.orderingKey !== null,
    orderingKey: delivery.orderingKey,
  }
}
