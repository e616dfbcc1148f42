import type { ConsumeMessage } from 'amqplib'
import type { SourceMessage } from '../source.ts'

const maxDepth = 20

/** A received message, with the field names that templates use. */
export function receivedMessage(
  { fields, properties, content }: ConsumeMessage,
  queue: string,
): SourceMessage {
  const { headers, messageId, correlationId, ...rest } = properties
  return {
    messageId: textOf(messageId),
    correlationId: textOf(correlationId),
    body: content,
    receipt: fields.deliveryTag,
    fields: {
      queue,
      exchange: fields.exchange,
      routingKey: fields.routingKey,
      redelivered: fields.redelivered,
      messageId: textOf(messageId) ?? undefined,
      headers: plain(headers ?? {}, 0),
      properties: plain({ messageId, correlationId, ...rest }, 0),
    },
  }
}

function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/** Converts values to JSON: amqplib returns bytes as buffers, and times and decimals as tagged objects. */
function plain(value: unknown, depth: number): unknown {
  if (depth > maxDepth) return null
  if (Buffer.isBuffer(value)) return value.toString('base64')
  if (typeof value === 'bigint') return String(value)
  if (Array.isArray(value)) return value.map((item) => plain(item, depth + 1))
  if (typeof value !== 'object' || value === null) return value
  const marked = value as { readonly '!'?: unknown; readonly value?: unknown }
  if (marked['!'] !== undefined) return plain(marked.value, depth + 1)
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== undefined)
      .map(([key, item]) => [key, plain(item, depth + 1)]),
  )
}
