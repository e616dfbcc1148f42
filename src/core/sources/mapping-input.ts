import { z } from 'zod'

/** How messages become events. Fields of every type of source; texts may have placeholders like `{{ routingKey }}`. */
export interface MappingInput {
  /** The type of the events, like `order.created`, with placeholders. */
  readonly eventType?: string | undefined
  /** The payload of the events as JSON with placeholders; null (default): the body of the message, which must be JSON. */
  readonly payload?: unknown
  /** The tenant of the events, with placeholders. */
  readonly tenant?: string | null | undefined
  /** The ordering key of the events, with placeholders. */
  readonly orderingKey?: string | null | undefined
  /** The correlation id of the events, with placeholders; by default that of the message. */
  readonly correlationId?: string | null | undefined
  /** What identifies a message, with placeholders, so that it becomes one event only; by default its message id. */
  readonly idempotencyKey?: string | null | undefined
}

const template = z.string().max(8192)

export const mappingInput = {
  eventType: template.optional(),
  payload: z.unknown().optional(),
  tenant: template.nullable().optional(),
  orderingKey: template.nullable().optional(),
  correlationId: template.nullable().optional(),
  idempotencyKey: template.nullable().optional(),
}

/** Fields of every source, as a person writes it. */
export interface CommonSourceInput {
  /** The name of the source. */
  readonly name: string
}
