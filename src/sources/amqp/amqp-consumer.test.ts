import { EventEmitter } from 'node:events'
import net, { type AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import type { Amqplib } from '../../amqp/amqplib.ts'
import { createEgress } from '../../network/egress.ts'
import { loopbackNetworks } from '../../network/network-rules.ts'
import { brokerAccess } from '../../transports/amqp/broker-config.ts'
import type { SourceFailure } from '../source.ts'
import { AmqpConsumer } from './amqp-consumer.ts'
import { amqpSourceConfig } from './amqp-source-config.ts'

/** What amqplib keeps of a message until its last frame. */
class FakeChannel extends EventEmitter {
  kept = 0
  deliver: (message: object) => void = () => {}
  async prefetch(): Promise<void> {}
  async close(): Promise<void> {}
  ack(): void {}
  async consume(_queue: string, deliver: (message: object) => void): Promise<void> {
    this.deliver = deliver
  }
  accept({ content }: { size?: number; content?: Buffer }): void {
    if (content !== undefined) this.kept += 1
  }
}

describe('a source whose broker is hostile', () => {
  const closers: (() => unknown)[] = []
  afterEach(async () => {
    for (const close of closers.splice(0)) await close()
  })

  async function consume() {
    const silent = net.createServer((socket) => socket.on('error', () => {}))
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    const channel = new FakeChannel()
    class Model extends EventEmitter {
      createChannel = async () => channel
      close = async () => {}
    }
    class Connection {
      open = (_fields: unknown, callback: (error: unknown) => void) => callback(null)
    }
    const config = amqpSourceConfig.parse({ url: `amqp://127.0.0.1:${port}`, queue: 'orders' })
    let received = 0
    const failures: SourceFailure[] = []
    await new Promise<void>((onOpen) => {
      const consumer = new AmqpConsumer({
        source: 'orders',
        config,
        ...brokerAccess(config),
        egress: createEgress({ allowNetworks: loopbackNetworks }),
        amqplib: { Connection, ChannelModel: Model } as unknown as Amqplib,
        listener: {
          onOpen,
          onMessage: () => {
            received += 1
          },
          onClosed: (failure) => failures.push(failure),
        },
      })
      closers.push(
        () => consumer.close(),
        () => silent.close(),
      )
      consumer.start()
    })
    return { channel, failures, received: () => received }
  }

  it('disconnects from a broker that announces a message of a petabyte', async () => {
    const { channel, failures } = await consume()
    channel.accept({ size: 2 ** 50 })
    channel.accept({ content: Buffer.alloc(4_096) })
    expect(channel.kept).toBe(0)
    expect(failures).toMatchObject([{ code: 'protocol_error' }])
  })

  it('disconnects from a broker that sends a message byte by byte', async () => {
    const { channel, failures } = await consume()
    channel.accept({ size: 1_000_000 })
    for (let i = 0; i < 1_000; i += 1) channel.accept({ content: Buffer.alloc(1) })
    expect(channel.kept).toBeLessThan(100)
    expect(failures).toMatchObject([{ code: 'protocol_error' }])
  })

  it('reads a large message in the smallest frames of the protocol', async () => {
    const { channel, failures } = await consume()
    channel.accept({ size: 100_000_000 })
    for (let i = 0; i < 1_000; i += 1) channel.accept({ content: Buffer.alloc(4_088) })
    expect(channel.kept).toBe(1_000)
    expect(failures).toEqual([])
  })

  it('disconnects from a broker that gives every message the same number', async () => {
    const { channel, failures, received } = await consume()
    const message = { fields: { deliveryTag: 1 }, properties: { headers: {} }, content: Buffer.from('{}') }
    for (let i = 0; i < 1_000; i += 1) channel.deliver(message)
    expect(received()).toBe(1)
    expect(failures).toMatchObject([{ code: 'protocol_error' }])
  })
})
