import { once } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import tls from 'node:tls'
import { pathToFileURL } from 'node:url'
import type { ConsumeMessage } from 'amqplib'
import { afterEach, describe, expect, it } from 'vitest'
import { blockedFrame, brokerUrl, TestBroker, unblockedFrame } from '../../../test/support/amqp/broker.ts'
import { CuttingProxy } from '../../../test/support/processes/cutting-proxy.ts'
import { selfSigned } from '../../../test/support/receivers/self-signed.ts'
import { exampleDispatch } from '../../../test/support/receivers/transport-conformance.ts'
import { loadAmqplib } from '../../amqp/amqplib.ts'
import { createEgress } from '../../network/egress.ts'
import { loopbackNetworks } from '../../network/network-rules.ts'
import { createTransportRegistry } from '../registry.ts'
import type { Transport, TransportChannel } from '../transport.ts'
import { amqpTransport } from './amqp-transport.ts'

const never = new AbortController().signal

function transportWith(
  allowNetworks: readonly string[],
  egress = createEgress({ allowNetworks }),
): Transport {
  const lookup = createTransportRegistry([amqpTransport({ egress })]).get('amqp')
  if (!lookup.isFound) throw new Error(lookup.message)
  return lookup.transport
}

const transport = transportWith(loopbackNetworks)

describe('the config of an amqp endpoint', () => {
  const least = { url: 'amqps://rabbit.example/shop', exchange: 'orders' }

  it.each([
    ['the least', least],
    ['the default exchange', { ...least, exchange: '' }],
    ['user and password in the URL', { ...least, url: 'amqp://ada:s3cret@rabbit.example:5673/%2F' }],
    ['user and password apart', { ...least, username: 'ada', password: 's3cret' }],
    ['a stored password', { ...least, username: 'ada', password: { isSet: true } }],
    ['a routing key from the message', { ...least, routingKey: 'orders.{{ country }}.{{ $eventType }}' }],
    [
      'everything',
      { ...least, headers: { 'x-a': '{{ id }}' }, properties: { priority: 3 }, persistent: false },
    ],
  ])('may be %s', (_, config) => {
    expect(() => transport.parseConfig(config)).not.toThrow()
  })

  it.each([
    [{ ...least, url: 'https://rabbit.example' }, 'must begin with amqp:// or amqps://'],
    [{ ...least, url: 'amqp://rabbit.example/?heartbeat=1' }, 'must have no query'],
    [{ ...least, url: 'amqp://rabbit.example/a/b' }, 'as %2F'],
    [{ ...least, url: 'amqp://ada@rabbit.example' }, 'both user name and password'],
    [{ ...least, url: 'amqp://ada:[hidden]@rabbit.example' }, 'pass the whole URL'],
    [{ url: least.url }, 'expected string'],
    [{ ...least, username: 'ada' }, 'set both'],
    [{ ...least, url: 'amqp://a:b@rabbit.example', username: 'a', password: 'b' }, 'set it in one place'],
    [{ ...least, exchange: 'x'.repeat(256) }, 'at most 255 bytes'],
    [{ ...least, routingKey: '{{ $tenant }}' }, 'not known in routingKey'],
    [{ ...least, headers: { 'webhook-id': '1' } }, 'is set by Holdfast'],
    [{ ...least, properties: { priority: 256 } }, '255'],
    [{ ...least, url: 'amqp://rabbit.example', tls: {} }, 'begins with amqps://'],
    [{ ...least, exchnage: 'orders' }, 'exchnage'],
  ])('refuses %j', (config, problem) => {
    expect(() => transport.parseConfig(config)).toThrow(problem)
  })

  it('keeps passwords secret, and shows the rest of a URL', () => {
    const url = 'amqp://ada:s3:c@ret@rabbit.example/shop'
    expect(transport.secretPaths?.({ url })).toContainEqual(['url'])
    expect(transport.secretPaths?.({ url: least.url })).not.toContainEqual(['url'])
    expect(transport.secretPaths?.(least)).toContainEqual(['password'])
    expect(transport.shownPart?.('url', url, { url })).toBe('amqp://ada:[hidden]@rabbit.example/shop')
    expect(transport.shownPart?.('password', 's3cret', least)).toBeNull()
  })

  it.each(['amqp://10.0.0.1', 'amqp://0x7f.1', 'amqp://[::1]:5672'])('may not lead to %s', (url) => {
    expect(transportWith([]).refuse?.({ ...least, url })).toMatchObject([{ path: 'config.url' }])
  })

  it('shows the message that would be published', () => {
    const config = { ...least, url: 'amqp://ada:s3cret@rabbit.example', routingKey: 'a.{{ id }}' }
    const request = transport.describe?.(config, exampleDispatch({ body: '{"id":7}' }))
    expect(request).toMatchObject({
      method: 'PUBLISH',
      url: 'amqp://rabbit.example:5672/%2F',
      headers: { exchange: 'orders', routingKey: 'a.7', messageId: 'msg_1', persistent: 'true' },
      body: '{"id":7}',
    })
    expect(JSON.stringify(request)).not.toContain('s3cret')
  })
})

it('says what to install when amqplib is missing', () => {
  const elsewhere = pathToFileURL(path.join(tmpdir(), 'nowhere', 'file.js')).href
  expect(() => loadAmqplib(elsewhere)).toThrow(
    'the package amqplib is not installed. Install it where Holdfast runs, with: npm install "amqplib@~2.3.1"',
  )
})

describe.skipIf(brokerUrl === null)('the amqp transport, with a RabbitMQ', () => {
  const closers: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0).toReversed()) await close()
  })

  async function startBroker(): Promise<TestBroker> {
    const broker = await TestBroker.connect()
    closers.push(() => broker.stop())
    return broker
  }

  async function startProxy(): Promise<CuttingProxy> {
    const proxy = await CuttingProxy.start(brokerUrl ?? '')
    closers.push(() => proxy.stop())
    return proxy
  }

  function open(config: object, by: Transport = transport): TransportChannel {
    const channel = by.open('example', { url: brokerUrl, exchange: '', ...config })
    closers.push(() => channel.close())
    return channel
  }

  async function next(broker: TestBroker, queue: string): Promise<ConsumeMessage> {
    return new Promise((resolve) => void broker.consume(queue, resolve))
  }

  it('publishes with the properties and headers of the endpoint and of the message', async () => {
    const broker = await startBroker()
    const queue = await broker.queue()
    const channel = open({
      routingKey: queue,
      headers: { 'x-order': '{{ id }}', 'x-none': '{{ missing }}' },
      properties: { priority: 4, expirationMs: 60_000, replyTo: 'answers' },
    })
    const body = '{"id":"o-7"}'
    await channel.send(
      exampleDispatch({ body, headers: { 'Content-Type': 'text/plain', 'X-Shop': 'north' } }),
      never,
    )
    const { properties, content } = await next(broker, queue)
    expect(content.toString()).toBe(body)
    expect(properties).toMatchObject({
      messageId: 'msg_1',
      correlationId: 'corr-1',
      type: 'order.created',
      appId: 'holdfast',
      contentType: 'text/plain',
      deliveryMode: 2,
      priority: 4,
      expiration: '60000',
      replyTo: 'answers',
      headers: { 'x-order': 'o-7', 'x-shop': 'north', 'webhook-id': 'msg_1', 'holdfast-attempt': 1 },
    })
    expect(properties.headers).not.toHaveProperty('x-none')
  })

  it('routes by the event type when no key is configured, and by a template', async () => {
    const broker = await startBroker()
    const exchange = broker.name('exchange')
    await broker.channel.assertExchange(exchange, 'topic', { durable: false, autoDelete: true })
    const queue = await broker.queue()
    await broker.channel.bindQueue(queue, exchange, 'order.*')
    await broker.channel.bindQueue(queue, exchange, 'shop.north.*')
    expect(await open({ exchange }).send(exampleDispatch(), never)).toMatchObject({ class: 'success' })
    const templated = open({ exchange, routingKey: 'shop.{{ shop }}.{{ $eventType }}' })
    const outcome = await templated.send(
      exampleDispatch({ body: '{"shop":"north"}', eventType: 'sold' }),
      never,
    )
    expect(outcome).toMatchObject({ class: 'success' })
  })

  it('tells routed from returned messages among many that are unconfirmed at once', async () => {
    const broker = await startBroker()
    const queue = await broker.queue()
    const channel = open({ routingKey: '{{ key }}' })
    const nowhere = broker.name('nowhere')
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, async (_, index) => {
        const key = index % 3 === 0 ? nowhere : queue
        return channel.send(
          exampleDispatch({ deliveryId: `dlv_${index}`, body: JSON.stringify({ key }) }),
          never,
        )
      }),
    )
    for (const [index, outcome] of outcomes.entries()) {
      if (index % 3 === 0) {
        expect(outcome).toMatchObject({
          class: 'permanent',
          isHealthFailure: false,
          error: { code: 'unroutable', message: expect.stringContaining('312 NO_ROUTE') },
          request: { method: 'PUBLISH' },
        })
      } else expect(outcome).toMatchObject({ class: 'success' })
    }
  })

  it('takes the confirm alone for success when the message is not mandatory', async () => {
    const broker = await startBroker()
    const channel = open({ routingKey: broker.name('nowhere'), mandatory: false })
    expect(await channel.send(exampleDispatch(), never)).toMatchObject({ class: 'success' })
  })

  it('fails everything unconfirmed when the broker closes the channel, and continues with a new one', async () => {
    const broker = await startBroker()
    const exchange = broker.name('exchange')
    const channel = open({ exchange, routingKey: 'any' })
    const outcomes = await Promise.all([1, 2, 3].map(async () => channel.send(exampleDispatch(), never)))
    for (const outcome of outcomes) {
      expect(outcome).toMatchObject({
        class: 'retryable',
        isHealthFailure: true,
        error: { code: 'exchange_missing', message: expect.stringContaining(exchange) },
      })
    }
    await broker.channel.assertExchange(exchange, 'fanout', { durable: false, autoDelete: true })
    await broker.channel.bindQueue(await broker.queue(), exchange, '')
    expect(await channel.send(exampleDispatch(), never)).toMatchObject({ class: 'success' })
  })

  it('retries everything unconfirmed when the connection is cut in the middle of a confirm', async () => {
    const broker = await startBroker()
    const queue = await broker.queue()
    const proxy = await startProxy()
    const channel = open({ url: proxy.url, routingKey: queue })
    const lost = proxy.loseNextAnswer(queue)
    const outcomes = await Promise.all([1, 2, 3].map(async () => channel.send(exampleDispatch(), never)))
    await lost
    for (const outcome of outcomes)
      expect(outcome).toMatchObject({
        class: 'retryable',
        isHealthFailure: true,
        error: { code: 'connection_reset' },
      })
    // The broker had them: this is why receivers deduplicate on the message's id.
    expect(await channel.send(exampleDispatch(), never)).toMatchObject({ class: 'success' })
    const { messageCount } = await broker.channel.checkQueue(queue)
    expect(messageCount).toBeGreaterThanOrEqual(2)
  })

  it('sends by a new connection after one that no longer confirms', async () => {
    const broker = await startBroker()
    const queue = await broker.queue()
    const proxy = await startProxy()
    const channel = open({ url: proxy.url, routingKey: queue, timeoutMs: 400 })
    void proxy.keepNextAnswer(queue)
    expect(await channel.send(exampleDispatch(), never)).toMatchObject({ error: { code: 'timeout' } })
    expect(await channel.send(exampleDispatch(), never)).toMatchObject({ class: 'success' })
  })

  it('holds the endpoint while the broker is blocked, publishes nothing meanwhile, and continues by itself', async () => {
    const broker = await startBroker()
    const queue = await broker.queue()
    const proxy = await startProxy()
    const channel = open({ url: proxy.url, routingKey: queue })
    const kept = proxy.keepNextAnswer(queue)
    const first = channel.send(exampleDispatch(), never)
    const answer = await kept
    proxy.inject(blockedFrame('low on memory'))
    const throttled = {
      class: 'throttled',
      isHealthFailure: false,
      retryAfterMs: 5_000,
      error: { code: 'broker_blocked', message: expect.stringContaining('low on memory') },
    }
    expect(await first).toMatchObject(throttled)
    expect(await channel.send(exampleDispatch(), never)).toMatchObject(throttled)
    expect((await broker.channel.checkQueue(queue)).messageCount).toBe(1)
    proxy.inject(unblockedFrame())
    answer.release()
    await expect.poll(async () => (await channel.send(exampleDispatch(), never)).class).toBe('success')
  })

  it('says that the user is refused, without the password', async () => {
    const outcome = await open({ username: 'guest', password: 'n0t-the-password' }).send(
      exampleDispatch(),
      never,
    )
    expect(outcome).toMatchObject({
      class: 'retryable',
      isHealthFailure: true,
      error: { code: 'access_refused' },
    })
    expect(JSON.stringify(outcome)).not.toContain('n0t-the-password')
  })

  it('says that the virtual host is refused', async () => {
    const outcome = await open({ url: `${brokerUrl}/holdfast-nowhere` }).send(exampleDispatch(), never)
    expect(outcome).toMatchObject({ class: 'retryable', error: { code: 'vhost_refused' } })
  })

  it('connects to allowed networks only', async () => {
    const outcome = await open({}, transportWith([])).send(exampleDispatch(), never)
    expect(outcome).toMatchObject({ class: 'permanent', error: { code: 'address_refused' } })
  })

  it('writes messages that are sent together by few system calls', async () => {
    const broker = await startBroker()
    const queue = await broker.queue()
    const egress = createEgress({ allowNetworks: loopbackNetworks })
    let writes = 0
    const openTcp: typeof egress.openTcp = (hostname, port) => {
      const socket = egress.openTcp(hostname, port)
      const write = socket._write.bind(socket)
      const writeAll = socket._writev?.bind(socket)
      socket._write = (...args) => {
        writes += 1
        write(...args)
      }
      socket._writev = (...args) => {
        writes += 1
        writeAll?.(...args)
      }
      return socket
    }
    const channel = open({ routingKey: queue }, transportWith(loopbackNetworks, { ...egress, openTcp }))
    await channel.send(exampleDispatch(), never)
    writes = 0
    const outcomes = await Promise.all(
      Array.from({ length: 40 }, async () => channel.send(exampleDispatch(), never)),
    )
    expect(new Set(outcomes.map((outcome) => outcome.class))).toEqual(new Set(['success']))
    expect(writes).toBeGreaterThan(0)
    expect(writes).toBeLessThan(5)
  })

  it('carries CloudEvents in binary mode as the AMQP binding has it', async () => {
    const broker = await startBroker()
    const queue = await broker.queue()
    const channel = open({ routingKey: queue, cloudEventsPrefix: 'cloudEvents_' })
    const headers = {
      'ce-specversion': '1.0',
      'ce-subject': 'order%20%C3%BC',
      'content-type': 'application/json',
    }
    await channel.send(exampleDispatch({ headers }), never)
    const { properties } = await next(broker, queue)
    expect(properties.headers).toMatchObject({
      cloudEvents_specversion: '1.0',
      cloudEvents_subject: 'order ü',
    })
    expect(properties.headers).not.toHaveProperty('ce-subject')
  })

  it('verifies certificates', async () => {
    const broker = await startBroker()
    const queue = await broker.queue()
    const { hostname, port } = new URL(brokerUrl ?? '')
    const server = tls.createServer({ cert: selfSigned.certificate, key: selfSigned.key }, (near) => {
      const far = net.connect(Number(port || 5672), hostname)
      near.pipe(far).pipe(near)
      for (const socket of [near, far]) socket.on('error', () => [near, far].map((each) => each.destroy()))
    })
    server.on('tlsClientError', () => undefined)
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    closers.push(async () => void server.close())
    const url = `amqps://127.0.0.1:${(server.address() as AddressInfo).port}`
    const untrusted = await open({ url, routingKey: queue }).send(exampleDispatch(), never)
    expect(untrusted).toMatchObject({
      class: 'retryable',
      isHealthFailure: true,
      error: { code: 'tls_failed' },
    })
    const trusting = open({ url, routingKey: queue, tls: { ca: selfSigned.certificate } })
    expect(await trusting.send(exampleDispatch(), never)).toMatchObject({ class: 'success' })
  })
})
