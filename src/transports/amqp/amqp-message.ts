import type { RenderedRequest } from '../../core/delivery/attempt.ts'
import { isReservedHeader } from '../../core/endpoints/reserved-headers.ts'
import { redactHeaders, textExcerpt } from '../http/excerpt.ts'
import {
  compileMessageText,
  isMessageTemplate,
  messageScope,
  type RenderMessageText,
} from '../message-text.ts'
import type { Dispatch } from '../transport.ts'
import type { AmqpConfig } from './amqp-config.ts'
import { maxShortBytes } from './broker-config.ts'

/** A message as amqplib publishes it. */
export interface AmqpMessage {
  readonly routingKey: string
  readonly headers: Readonly<Record<string, string | number>>
  readonly properties: Readonly<Record<string, unknown>>
  readonly body: string
}

/** Why a message can't be published, at any attempt. */
export interface UnusableMessage {
  readonly code: 'routing_key_invalid' | 'header_invalid'
  readonly message: string
}

const maxHeaderLength = 8_192
const maxShownBytes = 64 * 1024
/** CloudEvents requires both attributes; a transform sets others. */
const cloudEventSource = '/holdfast'
const untypedEvent = 'holdfast.message'

/** Sets the routing key, headers and properties of messages; the templates of an endpoint are compiled once. */
export class AmqpMessageRenderer {
  readonly #config: AmqpConfig
  /** Null: the event's type. */
  readonly #routingKey: RenderMessageText | null
  readonly #headers: readonly (readonly [name: string, render: RenderMessageText])[]

  constructor(config: AmqpConfig) {
    this.#config = config
    this.#routingKey = config.routingKey === undefined ? null : textOf(config.routingKey, 'routingKey')
    this.#headers = Object.entries(config.headers).map(([name, value]) => [name, textOf(value, 'headers')])
  }

  render(dispatch: Dispatch, nowMs: number): AmqpMessage | UnusableMessage {
    const scope = messageScope(dispatch, nowMs)
    const routingKey = this.#routingKey === null ? (dispatch.eventType ?? '') : this.#routingKey(scope)
    if (routingKey === undefined) {
      return unusable(
        'routing_key_invalid',
        `the routing key ${JSON.stringify(this.#config.routingKey)} names a value that the message doesn't have`,
      )
    }
    if (Buffer.byteLength(routingKey) > maxShortBytes) {
      return unusable('routing_key_invalid', `the routing key would be longer than ${maxShortBytes} bytes`)
    }
    const headers: Record<string, string | number> = {}
    for (const [name, render] of this.#headers) {
      const value = render(scope)
      if (value === undefined) continue
      if (value.length > maxHeaderLength) {
        return unusable(
          'header_invalid',
          `the header ${name} would be longer than ${maxHeaderLength} characters`,
        )
      }
      headers[name] = value
    }
    return {
      routingKey,
      headers: { ...headers, ...ownHeaders(dispatch, this.#config) },
      properties: this.#properties(dispatch, nowMs),
      body: dispatch.body,
    }
  }

  #properties(dispatch: Dispatch, nowMs: number): Record<string, unknown> {
    const { persistent, mandatory, properties } = this.#config
    const { expirationMs, contentType, type, ...rest } = properties
    return {
      persistent,
      mandatory,
      contentType: contentType ?? headerOf(dispatch, 'content-type') ?? 'application/json',
      messageId: dispatch.messageId,
      timestamp: Math.floor(nowMs / 1000),
      appId: 'holdfast',
      type: type ?? fitting(dispatch.eventType),
      correlationId: fitting(dispatch.correlationId),
      ...(expirationMs !== undefined && { expiration: String(expirationMs) }),
      ...rest,
    }
  }
}

/** The message as stored with an attempt and shown by a preview. */
export function describeMessage(
  message: AmqpMessage,
  { exchange }: AmqpConfig,
  broker: string,
): RenderedRequest {
  const { routingKey, headers, properties, body } = message
  const shown = textExcerpt(body, maxShownBytes)
  const texts = Object.entries({ ...properties, ...headers })
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => [name, String(value)])
  return {
    method: 'PUBLISH',
    url: broker,
    headers: redactHeaders({
      exchange,
      routingKey,
      ...(Object.fromEntries(texts) as Record<string, string>),
    }),
    body: shown.text,
    isTruncated: shown.isTruncated,
  }
}

/** The message's own headers, then those that can't be overridden. */
function ownHeaders(
  dispatch: Dispatch,
  { cloudEvents, cloudEventsPrefix }: AmqpConfig,
): Record<string, string | number> {
  const headers: Record<string, string | number> = {}
  const isCloudEvent = headerOf(dispatch, 'ce-specversion') !== undefined
  for (const [name, value] of Object.entries(dispatch.headers)) {
    const lowerName = name.toLowerCase()
    if (lowerName === 'content-type' || isReservedHeader(lowerName)) continue
    if (isCloudEvent && lowerName.startsWith('ce-'))
      headers[cloudEventsPrefix + lowerName.slice('ce-'.length)] = decoded(value)
    else headers[lowerName] = value
  }
  if (cloudEvents === 'binary' && !isCloudEvent) {
    headers[`${cloudEventsPrefix}specversion`] = '1.0'
    headers[`${cloudEventsPrefix}id`] = dispatch.messageId
    headers[`${cloudEventsPrefix}source`] = cloudEventSource
    headers[`${cloudEventsPrefix}type`] = dispatch.eventType ?? untypedEvent
  }
  headers['webhook-id'] = dispatch.messageId
  headers['holdfast-delivery-id'] = dispatch.deliveryId
  headers['holdfast-attempt'] = dispatch.attempt
  if (dispatch.eventType !== null) headers['holdfast-event-type'] = dispatch.eventType
  if (dispatch.correlationId !== null) headers['x-correlation-id'] = dispatch.correlationId
  return headers
}

/** The transform percent-encodes attributes for HTTP, where headers are ASCII; AMQP sends them unencoded. */
function decoded(value: string): string {
  try {
    return decodeURIComponent(value)
  } catch {
    return value
  }
}

function headerOf({ headers }: Dispatch, wanted: string): string | undefined {
  for (const name of Object.keys(headers)) if (name.toLowerCase() === wanted) return headers[name]
  return undefined
}

/** A property is a short string. A longer text is sent as a header only. */
function fitting(text: string | null): string | undefined {
  return text !== null && Buffer.byteLength(text) <= maxShortBytes ? text : undefined
}

function textOf(value: string, place: string): RenderMessageText {
  return isMessageTemplate(value) ? compileMessageText(value, place) : () => value
}

function unusable(code: UnusableMessage['code'], message: string): UnusableMessage {
  return { code, message: `${message}, so nothing was sent. Change the template or the message` }
}
