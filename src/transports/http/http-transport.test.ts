import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  answer,
  drip,
  endlessBody,
  garbage,
  gated,
  hang,
  rawAnswer,
  resetBeforeResponse,
  resetMidResponse,
  script,
} from '../../../test/support/receivers/behaviours.ts'
import { refusedUrl, unresolvableUrl } from '../../../test/support/receivers/dead-addresses.ts'
import { Gate } from '../../../test/support/receivers/gate.ts'
import { HttpReceiver } from '../../../test/support/receivers/http-receiver.ts'
import { selfSigned } from '../../../test/support/receivers/self-signed.ts'
import { SocketReceiver } from '../../../test/support/receivers/socket-receiver.ts'
import { exampleDispatch } from '../../../test/support/receivers/transport-conformance.ts'
import type { AttemptOutcome } from '../../core/delivery/attempt.ts'
import { createEgress } from '../../network/egress.ts'
import { loopbackNetworks } from '../../network/network-rules.ts'
import type { ChannelLimits, Dispatch, TransportChannel } from '../transport.ts'
import { type HttpTransportOptions, httpTransport } from './http-transport.ts'

const egress = createEgress({ allowNetworks: loopbackNetworks })
const never = new AbortController().signal
const channels: TransportChannel[] = []
let receiver: HttpReceiver

function open(
  config: object = {},
  options: HttpTransportOptions = {},
  limits: ChannelLimits = {},
): TransportChannel {
  const channel = httpTransport({ egress, ...options }).open('crm', { url: receiver.url, ...config }, limits)
  channels.push(channel)
  return channel
}

async function send(dispatch: Partial<Dispatch> = {}, config: object = {}): Promise<AttemptOutcome> {
  return open(config).send(exampleDispatch(dispatch), never)
}

beforeEach(async () => {
  receiver = await HttpReceiver.start()
})

afterEach(async () => {
  await Promise.all(channels.splice(0).map(async (channel) => channel.close()))
  await receiver.stop()
})

describe('the request', () => {
  it('names itself, its message, its delivery and its attempt', async () => {
    const beforeSeconds = Math.floor(Date.now() / 1_000)
    await send({ attempt: 3 })
    const [request] = receiver.ledger.requests
    expect(request).toMatchObject({ method: 'POST', path: '/hook', body: '{}' })
    expect(request?.headers).toMatchObject({
      'content-type': 'application/json',
      'webhook-id': 'msg_1',
      'holdfast-delivery-id': 'dlv_1',
      'holdfast-attempt': '3',
      'holdfast-event-type': 'order.created',
      'x-correlation-id': 'corr-1',
    })
    expect(request?.headers['user-agent']).toMatch(/^Holdfast\/\d+\.\d+\.\d+/)
    expect(Number(request?.headers['webhook-timestamp'])).toBeGreaterThanOrEqual(beforeSeconds)
  })

  it("prefers the message's headers to the endpoint's, and its own to both", async () => {
    const ours = { 'Webhook-Id': 'forged', 'Holdfast-Attempt': '99', Host: 'elsewhere.example' }
    await send(
      { headers: { 'X-Team': 'message', ...ours } },
      { headers: { 'x-team': 'endpoint', 'x-only': 'yes' } },
    )
    expect(receiver.ledger.requests[0]?.headers).toMatchObject({
      'x-team': 'message',
      'x-only': 'yes',
      'webhook-id': 'msg_1',
      'holdfast-attempt': '1',
      host: new URL(receiver.url).host,
    })
  })

  it('lets an endpoint choose its content type and its method', async () => {
    await send({}, { method: 'PUT', headers: { 'Content-Type': 'application/cloudevents+json' } })
    expect(receiver.ledger.requests[0]).toMatchObject({
      method: 'PUT',
      headers: { 'content-type': 'application/cloudevents+json' },
    })
  })

  it('sends a GET without a body', async () => {
    expect(await send({ body: '{"a":1}' }, { method: 'GET' })).toMatchObject({ class: 'success' })
    expect(receiver.ledger.requests[0]).toMatchObject({ method: 'GET', body: '' })
  })

  it('carries a correlation id that no header could hold in encoded form', async () => {
    await send({ correlationId: 'größe\r\nx-evil: 1\ud800' })
    const { headers } = receiver.ledger.requests[0]!
    expect(headers['x-correlation-id']).toBe('gr%C3%B6%C3%9Fe%0D%0Ax-evil%3A%201%EF%BF%BD')
    expect(headers['x-evil']).toBeUndefined()
  })

  it('calls a message header that HTTP can not carry permanent, and sends nothing', async () => {
    expect(await send({ headers: { 'x-note': 'two\r\nlines' } })).toMatchObject({
      class: 'permanent',
      isHealthFailure: false,
      error: { code: 'request_invalid' },
    })
    expect(receiver.ledger.count).toBe(0)
  })

  it('takes path, method and the wish for the answer from a direct call', async () => {
    receiver.behave(answer(200, { body: '{"found":true}' }))
    const call = { path: '/orders/7?full=1', method: 'PATCH', isResponseWanted: true }
    const outcome = await send({ call })
    expect(receiver.ledger.requests[0]).toMatchObject({ method: 'PATCH', path: '/hook/orders/7?full=1' })
    expect(outcome.response).toMatchObject({ status: 200, body: '{"found":true}' })
  })

  it('puts the query of a direct call behind that of its URL', async () => {
    await send({ call: { path: 'orders?full=1' } }, { url: `${receiver.url}?tenant=7` })
    expect(receiver.ledger.requests[0]).toMatchObject({ path: '/hook/orders?tenant=7&full=1' })
  })
})

describe('the answer', () => {
  it.each([
    [204, 'success', false],
    [302, 'permanent', false],
    [400, 'permanent', false],
    [408, 'retryable', false],
    [410, 'gone', false],
    [429, 'throttled', false],
    [500, 'retryable', true],
    [503, 'retryable', true],
  ] as const)('%i is %s', async (status, expectedClass, isHealthFailure) => {
    receiver.behave(answer(status))
    expect(await send()).toMatchObject({ class: expectedClass, isHealthFailure, statusCode: status })
  })

  it('is read as the endpoint says where it says so', async () => {
    receiver.behave(script(409, 500))
    const channel = open({ classify: { '409': 'success', '5xx': 'permanent' } })
    expect(await channel.send(exampleDispatch(), never)).toMatchObject({ class: 'success' })
    expect(await channel.send(exampleDispatch(), never)).toMatchObject({
      class: 'permanent',
      isHealthFailure: false,
    })
  })

  it('holds for the seconds of Retry-After, with 503 too', async () => {
    receiver.behave(answer(503, { headers: { 'retry-after': '7' } }))
    expect(await send()).toMatchObject({ class: 'throttled', isHealthFailure: false, retryAfterMs: 7_000 })
  })

  it('may repeat Retry-After', async () => {
    receiver.behave(
      rawAnswer('HTTP/1.1 429 No\r\nretry-after: 7\r\nretry-after: 9\r\ncontent-length: 0\r\n\r\n'),
    )
    expect(await send()).toMatchObject({ class: 'throttled', retryAfterMs: 7_000 })
  })

  it('is never followed to another place', async () => {
    receiver.behave(answer(307, { headers: { location: `${receiver.url}/elsewhere` } }))
    const outcome = await send()
    expect(outcome.error?.message).toContain('redirects are not followed')
    expect(receiver.ledger.count).toBe(1)
  })

  it('is waited for after an early hint', async () => {
    receiver.behave(
      rawAnswer('HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n'),
    )
    expect(await send()).toMatchObject({ class: 'success', statusCode: 202 })
  })

  it('is waited for after a 100 Continue that nobody asked for, also on a connection that is used again', async () => {
    const goOn = 'HTTP/1.1 100 Continue\r\nx-a: b\r\n\r\n'
    const done = 'HTTP/1.1 202 Accepted\r\ncontent-length: 0\r\n\r\n'
    receiver.behave((_, response) => void response.socket?.write(goOn, () => response.writeHead(202).end()))
    expect(await send()).toMatchObject({ class: 'success', statusCode: 202 })
    receiver.behave(rawAnswer(goOn + goOn + done))
    expect(await send()).toMatchObject({ class: 'success', statusCode: 202 })
    receiver.behave(rawAnswer(goOn))
    expect(await send()).toMatchObject({ class: 'retryable', error: { code: 'connection_reset' } })
  })
})

describe('an early hint', () => {
  it('is no answer: what hangs after it has no status', async () => {
    receiver.behave((_, response) => response.writeEarlyHints({ link: '</style.css>; rel=preload' }))
    const outcome = await send({}, { timeoutMs: 100 })
    expect(outcome).toMatchObject({ class: 'retryable', error: { code: 'timeout' } })
    expect(outcome.statusCode).toBeUndefined()
  })
})

describe('what is kept', () => {
  const secret = 'wild-salmon'
  const config = {
    headers: { authorization: secret, 'X-Api-Key': secret, 'X-Auth': 'blue', 'x-team': 'blue' },
    plainHeaders: ['X-Team'],
  }

  it('keeps request and response of a failure, without secrets', async () => {
    receiver.behave(answer(500, { headers: { 'set-cookie': secret, 'x-trace': 't1' }, body: 'out of order' }))
    const url = `${receiver.url}?access_token=${secret}&page=2`
    const outcome = await send({ body: '{"a":1}', headers: { cookie: secret } }, { ...config, url })
    expect(outcome.request).toMatchObject({
      method: 'POST',
      url: `${receiver.url}?access_token=%5Bredacted%5D&page=%5Bredacted%5D`,
      headers: {
        authorization: '[redacted]',
        'x-api-key': '[redacted]',
        cookie: '[redacted]',
        'x-auth': '[redacted]',
        'x-team': 'blue',
      },
      body: '{"a":1}',
      isTruncated: false,
    })
    expect(outcome.response).toMatchObject({
      status: 500,
      headers: { 'set-cookie': '[redacted]', 'x-trace': 't1' },
      body: 'out of order',
      isTruncated: false,
    })
    expect(JSON.stringify(outcome)).not.toContain(secret)
    expect(receiver.ledger.requests[0]?.path).toContain(secret)
  })

  it('keeps the request when there was no answer', async () => {
    receiver.behave(resetBeforeResponse())
    const outcome = await send({ body: '{"a":1}' })
    expect(outcome.request?.body).toBe('{"a":1}')
    expect(outcome.response).toBeUndefined()
  })

  it('keeps nothing of a success by default, all of it on request, and nothing of a failure when configured so', async () => {
    receiver.behave(script(answer(200, { body: 'thanks' }), answer(200, { body: 'thanks' }), 500))
    const success = await send()
    expect([success.request, success.response]).toEqual([undefined, undefined])
    const captured = await send({}, { capture: 'all' })
    expect(captured.response?.body).toBe('thanks')
    expect(captured.request?.method).toBe('POST')
    const failure = await send({}, { capture: 'none' })
    expect([failure.class, failure.request, failure.response]).toEqual(['retryable', undefined, undefined])
  })

  it('keeps at most 64 KiB of the request, whole characters only', async () => {
    receiver.behave(answer(500))
    const { request } = await send({ body: JSON.stringify('€'.repeat(30_000)) })
    expect(request?.isTruncated).toBe(true)
    expect(Buffer.byteLength(request?.body ?? '')).toBeLessThanOrEqual(65_536)
    expect(request?.body).toMatch(/^"€+$/)
  })

  it('keeps an answer that is no text as text that can be stored', async () => {
    receiver.behave(answer(500, { body: Buffer.from([0x61, 0x00, 0xff, 0x62]) }))
    expect((await send()).response?.body).toBe('a\ufffd\ufffdb')
  })
})

describe('a receiver that sends too much', () => {
  it('is cut off at the limit, destroyed, and judged by its status', async () => {
    receiver.behave(endlessBody(500))
    const outcome = await send({}, { maxResponseBytes: 1_000 })
    expect(outcome).toMatchObject({ class: 'retryable', statusCode: 500, response: { isTruncated: true } })
    expect(outcome.response?.body).toBe('x'.repeat(1_000))
    await receiver.whenDisconnected()
  })

  it('has succeeded when its status says so', async () => {
    receiver.behave(endlessBody(200))
    expect(await send()).toMatchObject({ class: 'success', statusCode: 200 })
    await receiver.whenDisconnected()
  })

  it('leaves the channel usable when the connection was to close anyway', async () => {
    receiver.behave(answer(200, { headers: { connection: 'close' }, body: 'x'.repeat(2_000) }))
    const channel = open({ maxResponseBytes: 1_000 })
    for (let round = 0; round < 3; round += 1) {
      expect(await channel.send(exampleDispatch(), never)).toMatchObject({ class: 'success' })
    }
  })

  it('keeps its connection when its answer just fits', async () => {
    receiver.behave(answer(500, { body: 'x'.repeat(1_000) }))
    const channel = open({ maxResponseBytes: 1_000 })
    const outcome = await channel.send(exampleDispatch(), never)
    expect(outcome.response).toMatchObject({ isTruncated: false })
    await channel.send(exampleDispatch(), never)
    expect(receiver.connectionCount).toBe(1)
  })
})

describe('the deadline', () => {
  it('is not extended by a dripping body, and destroys the socket', async () => {
    receiver.behave(drip(5))
    const outcome = await send({}, { timeoutMs: 100 })
    expect(outcome).toMatchObject({ class: 'retryable', isHealthFailure: true, error: { code: 'timeout' } })
    expect(outcome.error?.message).toContain(
      'status 200 was received, but the response did not end within 100 ms',
    )
    expect(outcome.durationMs).toBeLessThan(10_000)
    await receiver.whenDisconnected()
  })

  it('covers the time spent waiting for a free connection, and the waiting request is never sent', async () => {
    const channel = open({ timeoutMs: 500 }, {}, { maxConcurrency: 1 })
    // With its connection open and its code compiled the first takes no time to start, so that both deadlines are the same.
    for (let sent = 0; sent < 50; sent += 1) await channel.send(exampleDispatch(), never)
    receiver.behave(hang())
    const outcomes = await Promise.all([1, 2].map(async () => channel.send(exampleDispatch(), never)))
    expect(outcomes.map((outcome) => outcome.error?.code)).toEqual(['timeout', 'timeout'])
    expect(outcomes[1]?.error?.message).toContain('no connection became free')
    expect(receiver.ledger.count).toBe(51)
  })

  it('leaves no trace of a request that was aborted while it waited for a connection', async () => {
    const gate = new Gate()
    receiver.behave(gated(gate, answer(200)))
    const channel = open({}, {}, { maxConcurrency: 1 })
    const controller = new AbortController()
    const first = channel.send(exampleDispatch({ messageId: 'msg_first' }), never)
    const aborted = channel.send(exampleDispatch({ messageId: 'msg_aborted' }), controller.signal)
    const last = channel.send(exampleDispatch({ messageId: 'msg_last' }), never)
    await receiver.ledger.waitFor(1)
    controller.abort()
    await aborted
    gate.open()
    await Promise.all([first, last])
    expect(receiver.ledger.requests.map((request) => request.webhookId)).toEqual(['msg_first', 'msg_last'])
    expect(receiver.connectionCount).toBe(1)
  })

  it('destroys a socket that still connects when its send is aborted', async () => {
    await using silent = await SocketReceiver.start()
    const controller = new AbortController()
    const channel = open({ url: silent.url.replace('http:', 'https:'), timeoutMs: 60_000 })
    const sent = channel.send(exampleDispatch(), controller.signal)
    await silent.whenConnected()
    controller.abort()
    expect(await sent).toMatchObject({ error: { code: 'aborted' } })
    await silent.whenDisconnected()
  })

  it('covers a handshake that never ends', async () => {
    await using silent = await SocketReceiver.start()
    const outcome = await send({}, { url: silent.url.replace('http:', 'https:'), timeoutMs: 100 })
    expect(outcome).toMatchObject({ error: { code: 'timeout' } })
    await silent.whenDisconnected()
  })
})

describe('failures of the network', () => {
  it.each([
    ['connect_refused', async () => send({}, { url: await refusedUrl() })],
    ['dns_failed', async () => send({}, { url: unresolvableUrl })],
    ['tls_failed', async () => send({}, { url: receiver.url.replace('http:', 'https:') })],
  ])('have the code %s and name the host', async (code, attempt) => {
    const outcome = await attempt()
    expect(outcome).toMatchObject({ class: 'retryable', isHealthFailure: true, error: { code } })
    expect(outcome.error?.message).toMatch(/^POST to (127\.0\.0\.1:\d+|receiver\.invalid): /)
  })

  it.each([
    ['connection_reset', resetBeforeResponse()],
    ['connection_reset', resetMidResponse()],
    ['connection_reset', rawAnswer('')],
    ['response_invalid', garbage()],
    ['response_invalid', rawAnswer(`HTTP/1.1 200 OK\r\n${'x-filler: yes\r\n'.repeat(20_000)}\r\n`)],
  ])('of a broken answer have the code %s', async (code, behaviour) => {
    receiver.behave(behaviour)
    expect(await send()).toMatchObject({ class: 'retryable', isHealthFailure: true, error: { code } })
  })

  it('do not count against the circuit when the receiver closed a connection that was idle', async () => {
    const channel = open()
    await channel.send(exampleDispatch(), never)
    receiver.behave(resetBeforeResponse())
    const outcome = await channel.send(exampleDispatch(), never)
    expect(outcome).toMatchObject({
      class: 'retryable',
      isHealthFailure: false,
      error: { code: 'connection_reset' },
    })
    expect(await channel.send(exampleDispatch(), never)).toMatchObject({ isHealthFailure: true })
  })
})

describe('connections', () => {
  it('are kept and used again', async () => {
    receiver.behave(answer(200, { body: 'thanks' }))
    const channel = open()
    for (let round = 0; round < 5; round += 1) await channel.send(exampleDispatch(), never)
    expect(receiver.connectionCount).toBe(1)
  })

  it("are at most as many as the lane's concurrency", async () => {
    const channel = open({}, {}, { maxConcurrency: 3 })
    await Promise.all(Array.from({ length: 30 }, async () => channel.send(exampleDispatch(), never)))
    expect(receiver.ledger.count).toBe(30)
    expect(receiver.connectionCount).toBe(3)
  })

  it('are opened again after a receiver crashed and came back', async () => {
    const channel = open()
    await channel.send(exampleDispatch(), never)
    const { port } = receiver
    await receiver.stop()
    expect(await channel.send(exampleDispatch(), never)).toMatchObject({ class: 'retryable' })
    receiver = await HttpReceiver.start({ port })
    expect(await channel.send(exampleDispatch(), never)).toMatchObject({ class: 'success' })
  })

  it('are opened by the hook that was given, which may refuse', async () => {
    const channel = open(
      {},
      {
        egress: createEgress({
          allowNetworks: loopbackNetworks,
          openSocket: () => {
            throw Object.assign(new Error('no way out'), { code: 'EHOSTUNREACH' })
          },
        }),
      },
    )
    expect(await channel.send(exampleDispatch(), never)).toMatchObject({
      error: { code: 'host_unreachable' },
    })
  })

  it('are closed with the channel', async () => {
    const channel = open({}, { keepAliveMs: 60_000 })
    await channel.send(exampleDispatch(), never)
    expect(receiver.openConnectionCount).toBe(1)
    await channel.close()
    await receiver.whenDisconnected()
  })
})

describe('timings', () => {
  it('tell where the time went, and leave out the connecting when a connection was kept', async () => {
    const channel = open({ url: receiver.url.replace('127.0.0.1', 'localhost') })
    const first = await channel.send(exampleDispatch(), never)
    expect(first.timings).toEqual({
      dnsMs: expect.any(Number),
      connectMs: expect.any(Number),
      firstByteMs: expect.any(Number),
      totalMs: first.durationMs,
    })
    const second = await channel.send(exampleDispatch(), never)
    expect(Object.keys(second.timings ?? {}).sort()).toEqual(['firstByteMs', 'totalMs'])
  })

  it('resume the TLS session of an earlier connection', async () => {
    await using secure = await HttpReceiver.start({ isSecure: true })
    secure.behave(answer(200, { headers: { connection: 'close' } }))
    const channel = open({ url: secure.url }, { tls: { ca: selfSigned.certificate } })
    await channel.send(exampleDispatch(), never)
    await secure.whenDisconnected()
    await channel.send(exampleDispatch(), never)
    expect([secure.connectionCount, secure.resumedSessionCount]).toEqual([2, 1])
  })

  it('show the TLS handshake, and trust only configured certificates', async () => {
    await using secure = await HttpReceiver.start({ isSecure: true })
    const trusting = open({ url: secure.url }, { tls: { ca: selfSigned.certificate } })
    const outcome = await trusting.send(exampleDispatch(), never)
    expect(outcome).toMatchObject({ class: 'success', timings: { tlsMs: expect.any(Number) } })
    expect(await send({}, { url: secure.url })).toMatchObject({ error: { code: 'tls_failed' } })
  })
})

describe('the config', () => {
  it('has the defaults of the documentation', () => {
    expect(httpTransport().parseConfig({ url: 'https://crm.example/hooks' })).toEqual({
      url: 'https://crm.example/hooks',
      method: 'POST',
      headers: {},
      plainHeaders: [],
      secretPath: false,
      auth: { type: 'none' },
      timeoutMs: 10_000,
      capture: 'errors',
      maxResponseBytes: 65_536,
      classify: {},
    })
  })

  it.each([
    ['no URL', {}],
    ['a relative URL', { url: '/hooks' }],
    ['another protocol', { url: 'ftp://crm.example' }],
    ['credentials in the URL', { url: 'https://user:pass@crm.example' }],
    ['a method that is not offered', { url: 'https://crm.example', method: 'TRACE' }],
    ['a reserved header', { url: 'https://crm.example', headers: { 'Webhook-Id': 'x' } }],
    ['a header of two lines', { url: 'https://crm.example', headers: { 'x-a': 'b\r\nc: d' } }],
    ['a status that does not exist', { url: 'https://crm.example', classify: { '999': 'success' } }],
  ])('is refused with %s', (_, config) => {
    expect(() => httpTransport().parseConfig(config)).toThrow()
    expect(() => httpTransport().open('crm', config)).toThrow()
  })
})
