import { formatId } from '../core/delivery/ids.ts'
import type { FailureRecord } from '../storage/settle.ts'
import type { Delivery } from './delivery.ts'
import type { Logger } from './logger.ts'
import type { NodeObserver } from './observer.ts'

/** Fields that match a log line with an entry of the API and a request at the receiver. */
function idsOf(delivery: Delivery) {
  const { endpoint, messageId, deliveryId, correlationId, attempt, traceparent } = delivery
  return {
    endpoint,
    messageId,
    deliveryId,
    attempt,
    ...(correlationId !== null && { correlationId }),
    ...(traceparent !== null && { traceId: traceparent.split('-')[1] }),
  }
}

/** Logs failed attempts, for debugging. Successes aren't logged: they are in the database. */
export function logAttempts(logger: Logger): Partial<NodeObserver> {
  return {
    attempted(delivery, outcome) {
      if (outcome.class === 'success') return
      const { class: outcomeClass, statusCode, error } = outcome
      logger.debug(
        { ...idsOf(delivery), class: outcomeClass, statusCode, error: error?.code },
        'An attempt failed',
      )
    },
  }
}

/** Logs a dead letter. `delivery` is undefined for one that ended without being in memory. */
export function logDeath(logger: Logger, record: FailureRecord, delivery: Delivery | undefined): void {
  const ids =
    delivery === undefined
      ? {
          messageId: formatId('msg', record.message),
          deliveryId: formatId('dlv', record.id),
          attempt: record.attempt,
        }
      : idsOf(delivery)
  logger.info(
    { ...ids, reason: record.reason, statusCode: record.status, error: record.errorCode },
    'A delivery became a dead letter',
  )
}
