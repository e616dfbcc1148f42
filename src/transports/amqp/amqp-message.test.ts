import { expect, it } from 'vitest'
import { exampleDispatch } from '../../../test/support/receivers/transport-conformance.ts'
import { amqpConfig, confirmDeadlineMs } from './amqp-config.ts'
import { AmqpMessageRenderer } from './amqp-message.ts'

const parse = (config: object) =>
  amqpConfig.parse({ url: 'amqp://rabbit.example', exchange: 'events', ...config })

function headersOf(config: object, dispatch = exampleDispatch()): Readonly<Record<string, unknown>> {
  const message = new AmqpMessageRenderer(parse(config)).render(dispatch, 0)
  if (!('headers' in message)) throw new Error(message.message)
  return message.headers
}

it('sends a message as a CloudEvent with cloudEvents "binary", and not otherwise', () => {
  const dispatch = exampleDispatch({ messageId: 'msg_7', eventType: 'order.created' })
  expect(headersOf({ cloudEvents: 'binary' }, dispatch)).toMatchObject({
    'cloudEvents:specversion': '1.0',
    'cloudEvents:id': 'msg_7',
    'cloudEvents:source': '/holdfast',
    'cloudEvents:type': 'order.created',
  })
  expect(headersOf({}, dispatch)).not.toHaveProperty('cloudEvents:id')
})

it('keeps the CloudEvents attributes that a transform has set', () => {
  const headers = { 'ce-specversion': '1.0', 'ce-id': 'a', 'ce-source': '/shop', 'ce-type': 'paid' }
  expect(headersOf({ cloudEvents: 'binary' }, exampleDispatch({ headers }))).toMatchObject({
    'cloudEvents:id': 'a',
    'cloudEvents:source': '/shop',
    'cloudEvents:type': 'paid',
  })
})

it('waits for a confirm as long as confirmTimeoutMs says, or else timeoutMs', () => {
  expect(confirmDeadlineMs(parse({}))).toBe(10_000)
  expect(confirmDeadlineMs(parse({ timeoutMs: 3000 }))).toBe(3000)
  expect(confirmDeadlineMs(parse({ timeoutMs: 3000, confirmTimeoutMs: 500 }))).toBe(500)
})
