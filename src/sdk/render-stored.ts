import { formatId } from '../core/delivery/ids.ts'
import type { EndpointRecord } from '../storage/endpoints.ts'
import type { EventBody } from '../storage/events.ts'
import type { CompiledTransform, TransformError, TransformInput } from '../transforms/transform.ts'

/** A stored event as the transform would get it at the next attempt. */
export function storedInput(event: EventBody, endpoint: string, deliveryId: number): TransformInput {
  return {
    messageId: formatId('msg', event.id),
    deliveryId: formatId('dlv', deliveryId),
    eventType: event.eventType,
    tenant: event.tenant,
    correlationId: event.correlationId,
    endpoint,
    attempt: 1,
    createdAtMs: event.createdAt.getTime(),
    nowMs: Date.now(),
    headers: event.headers ?? {},
    metadata: event.metadata,
    body: event.body,
  }
}

/** Whether requests to an endpoint carry several messages, which a transform renders differently. */
export function isBatching(endpoint: EndpointRecord): boolean {
  return (endpoint.settings['batch'] ?? null) !== null
}

/** Why a stored event can't be rendered; null if it can. A message that is skipped on purpose is no failure. */
export async function renderProblem(
  transform: CompiledTransform,
  input: TransformInput,
  isBatch: boolean,
): Promise<TransformError | null> {
  const result = await (isBatch ? transform.renderBatch([input]) : transform.render(input))
  if (!result.ok) return result.error.isSkipped === true ? null : result.error
  const [refused = null] = result.refused ?? []
  return refused
}
