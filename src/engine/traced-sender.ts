import type { AttemptOutcome } from '../core/delivery/attempt.ts'
import type { BatchPolicy } from '../core/endpoints/setting-fields.ts'
import { startDeliverySpan, traceHeader } from '../observe/tracing.ts'
import type { TransportChannel } from '../transports/transport.ts'
import { AttemptSender, type BatchOutcome } from './attempt-sender.ts'
import type { Delivery } from './delivery.ts'

/** Makes attempts under spans. Used only if tracing is on: the plain sender has no tracing code. */
export class TracedSender extends AttemptSender {
  override send(
    delivery: Delivery,
    channel: TransportChannel,
    signal: AbortSignal,
  ): AttemptOutcome | Promise<AttemptOutcome> {
    const { correlationId } = delivery
    const span = startDeliverySpan(delivery.endpoint, [delivery.storedHeaders[traceHeader]], {
      'messaging.message.id': delivery.messageId,
      'holdfast.delivery.id': delivery.deliveryId,
      'holdfast.attempt': delivery.attempt,
      ...(correlationId !== null && { 'messaging.message.conversation_id': correlationId }),
    })
    delivery.traceparent = span.traceparent
    try {
      const outcome = span.run(() => super.send(delivery, channel, signal))
      if (!(outcome instanceof Promise)) {
        span.end(outcome)
        return outcome
      }
      return outcome.then(
        (late) => {
          span.end(late)
          return late
        },
        (error: unknown) => {
          span.end(null)
          throw error
        },
      )
    } catch (error) {
      span.end(null)
      throw error
    }
  }

  override async sendBatch(
    deliveries: readonly Delivery[],
    channel: TransportChannel,
    signal: AbortSignal,
    batch: BatchPolicy | null,
  ): Promise<BatchOutcome> {
    const stored = deliveries.map((delivery) => delivery.storedHeaders[traceHeader])
    const endpoint = deliveries[0]?.endpoint ?? 'unknown'
    const span = startDeliverySpan(endpoint, stored, { 'messaging.batch.message_count': deliveries.length })
    let result: BatchOutcome | null = null
    try {
      result = await span.run(() => super.sendBatch(deliveries, channel, signal, batch, span.traceparent))
      return result
    } finally {
      span.end(result?.outcome ?? null)
    }
  }
}
