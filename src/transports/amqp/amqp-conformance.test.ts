import type { Socket } from 'node:net'
import { describe } from 'vitest'
import { ackFrame, blockedFrame, brokerUrl, TestBroker } from '../../../test/support/amqp/broker.ts'
import { CuttingProxy } from '../../../test/support/processes/cutting-proxy.ts'
import { refusedUrl, unresolvableUrl } from '../../../test/support/receivers/dead-addresses.ts'
import { SocketReceiver } from '../../../test/support/receivers/socket-receiver.ts'
import {
  type ArrivedMessage,
  type ConformanceRig,
  describeTransportConformance,
  type ReceiverBehaviour,
} from '../../../test/support/receivers/transport-conformance.ts'
import { createEgress } from '../../network/egress.ts'
import { loopbackNetworks } from '../../network/network-rules.ts'
import { createTransportRegistry } from '../registry.ts'
import type { TransportChannel } from '../transport.ts'
import { amqpTransport } from './amqp-transport.ts'

const egress = createEgress({ allowNetworks: loopbackNetworks })

function open(config: object): TransportChannel {
  const lookup = createTransportRegistry([amqpTransport({ egress })]).get('amqp')
  if (!lookup.isFound) throw new Error(lookup.message)
  return lookup.transport.open('example', { exchange: '', ...config })
}

async function startRig(
  behaviour: ReceiverBehaviour | 'confirm-garbage',
  timeoutMs: number,
): Promise<ConformanceRig> {
  const broker = await TestBroker.connect()
  const proxy = await CuttingProxy.start(brokerUrl ?? '')
  const isFull = behaviour === 'fail'
  const queue = await broker.queue(isFull ? { 'x-max-length': 1, 'x-overflow': 'reject-publish' } : {})
  if (isFull) broker.channel.sendToQueue(queue, Buffer.from('{}'))
  const arrived: ArrivedMessage[] = []
  const waiters: { readonly count: number; readonly resolve: () => void }[] = []
  if (!isFull) {
    await broker.consume(queue, ({ properties, content }) => {
      const headers = properties.headers ?? {}
      arrived.push({
        id: String(properties.messageId),
        deliveryId: String(headers['holdfast-delivery-id']),
        attempt: Number(headers['holdfast-attempt']),
        correlationId: String(properties.correlationId),
        headers,
        body: content.toString(),
      })
      for (const waiter of waiters) if (arrived.length >= waiter.count) waiter.resolve()
    })
  }
  // The broker takes what is published, and its confirms wait in the proxy.
  if (behaviour === 'hang') void proxy.keepNextAnswer(queue)
  if (behaviour === 'throttle')
    void proxy.keepNextAnswer(queue).then(() => proxy.inject(blockedFrame('low on memory')))
  if (behaviour === 'confirm-garbage')
    void proxy.keepNextAnswer(queue).then(() => proxy.inject(ackFrame(4_000_000_000)))
  const routingKey = behaviour === 'reject' ? broker.name('nowhere') : queue
  const channel = open({ url: proxy.url, routingKey, timeoutMs })
  return {
    channel,
    arrived,
    whenArrived: (count) =>
      arrived.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => waiters.push({ count, resolve })),
    stop: async () => {
      await channel.close()
      await proxy.stop()
      await broker.stop()
    },
  }
}

async function rigAt(url: string, timeoutMs: number, stop?: () => Promise<void>): Promise<ConformanceRig> {
  const channel = open({ url: url.replace(/^http/, 'amqp').replace(/\/hook$/, ''), timeoutMs })
  return {
    channel,
    arrived: [],
    whenArrived: async () => undefined,
    stop: async () => {
      await channel.close()
      await stop?.()
    },
  }
}

async function atSocket(
  timeoutMs: number,
  scheme: string,
  onSocket?: (socket: Socket) => void,
): Promise<ConformanceRig> {
  const receiver = await SocketReceiver.start(onSocket)
  return rigAt(receiver.url.replace('http', scheme), timeoutMs, async () => receiver.stop())
}

describe.skipIf(brokerUrl === null)('with a RabbitMQ', () => {
  describeTransportConformance('amqp', {
    start: startRig,
    hostile: {
      'confirms what was never sent': (timeoutMs) => startRig('confirm-garbage', timeoutMs),
      'accepts and stays silent': (timeoutMs) => atSocket(timeoutMs, 'amqp'),
      'speaks another protocol': (timeoutMs) =>
        atSocket(timeoutMs, 'amqp', (socket) => socket.write('220 mail.example ESMTP\r\n')),
      'announces a frame of four gigabytes': (timeoutMs) =>
        atSocket(timeoutMs, 'amqp', (socket) =>
          socket.write(Buffer.from([1, 0, 0, 0xff, 0xff, 0xff, 0xff, 0])),
        ),
      'sends without end': (timeoutMs) =>
        atSocket(timeoutMs, 'amqp', (socket) => {
          const more = (): void => {
            while (!socket.destroyed && socket.write(Buffer.alloc(65_536)));
          }
          socket.on('drain', more)
          more()
        }),
      'closes without a word': (timeoutMs) => atSocket(timeoutMs, 'amqp', (socket) => socket.end()),
      'speaks no TLS': (timeoutMs) => atSocket(timeoutMs, 'amqps', (socket) => socket.write('hello')),
      'refuses connections': async (timeoutMs) => rigAt(await refusedUrl(), timeoutMs),
      'has no address': (timeoutMs) => rigAt(unresolvableUrl, timeoutMs),
    },
  })
})
