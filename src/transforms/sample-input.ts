import type { TransformInput } from './transform.ts'

/** A message for tests: an order, on its second attempt. */
export function sampleInput(payload: unknown, changes: Partial<TransformInput> = {}): TransformInput {
  return {
    messageId: 'msg_1',
    deliveryId: 'dlv_1',
    eventType: 'order.created',
    tenant: 'acme',
    correlationId: null,
    endpoint: 'crm',
    attempt: 2,
    createdAtMs: Date.UTC(2030, 0, 31, 9, 0, 0),
    nowMs: Date.UTC(2030, 0, 31, 9, 0, 5),
    headers: { 'X-Region': 'eu' },
    metadata: { source: 'shop' },
    body: typeof payload === 'string' ? payload : JSON.stringify(payload),
    ...changes,
  }
}
